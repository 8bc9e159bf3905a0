"""Changes to the way Textual works, each with its reason."""
