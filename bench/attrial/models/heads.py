"""What a model's head says: classes that exclude each other, labels by themselves, one number."""

from transformers import PreTrainedConfig


def apart(config: PreTrainedConfig) -> bool:
    """Whether several labels may hold at once, so that each output is read by itself."""
    several = config.problem_type == "multi_label_classification"
    return several and int(config.num_labels or 0) > 1
