"""Builds vault files byte by byte, from Format.md alone and apart from the reader."""
