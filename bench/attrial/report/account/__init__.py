"""The trust report in words: findings become headings, sentences, tables and drawings."""

from attrial.report.account.document import document as document
from attrial.report.account.files import joined as joined
from attrial.report.account.files import read_checks as read_checks
from attrial.report.account.files import write_report as write_report
