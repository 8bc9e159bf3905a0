"""What several screens draw with: numbers, times, marks, empty states."""
