"""Screen 6, Learn: lessons, scenes and demo contenders."""
