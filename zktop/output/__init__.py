"""Output without a screen: a report as JSON, text, DOT, Mermaid, metrics or alerts."""
