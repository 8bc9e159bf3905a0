"""Output without a screen: a report as JSON, text, DOT, Mermaid or metrics."""
