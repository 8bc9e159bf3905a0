"""The flight recorder: a folder of recordings, limited in age and size."""
