"""An independent reader of the vault file, written from Format.md alone."""
