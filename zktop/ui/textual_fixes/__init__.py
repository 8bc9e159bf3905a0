"""What Textual gets wrong for this program, and the fix for it; one module for each subject."""
