"""Tasks."""
from attrial._data_item import Item as Item
