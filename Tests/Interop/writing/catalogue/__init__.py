"""The test vectors that are kept as files. A vector is a function that builds a file; its name is the function's."""

from . import (
    bound_names,
    damaged_checkpoints,
    damaged_entries,
    damaged_files,
    damaged_headers,
    damaged_histories,
    damaged_members,
    damaged_pages,
    damaged_records,
    damaged_slots,
    damaged_tails,
    damaged_trees,
    key_files,
    sound_checkpoints,
    sound_headers,
    sound_members,
    sound_minor_checkpoints,
    sound_records,
    sound_slots,
    sound_tails,
)

MODULES = (
    sound_headers, sound_slots, sound_checkpoints, sound_records, sound_minor_checkpoints, sound_tails,
    sound_members, bound_names, key_files, damaged_files, damaged_headers, damaged_slots, damaged_entries, damaged_checkpoints,
    damaged_pages, damaged_trees, damaged_records, damaged_histories, damaged_tails,
    damaged_members,
)  # fmt: skip
