//! Error messages with a place.

use crate::line_index::{LineIndex, Position};

/// `line:column: message`, both from 1, and the line itself.
pub fn report(text: &str, offset: usize, message: &str) -> String {
    let index = LineIndex::new(text);
    match index.position(offset) {
        Some(Position { line, column }) => {
            let shown = index.line_text(line).unwrap_or_default();
            format!("{}:{}: {message}\n{shown}\n", line + 1, column + 1)
        }
        None => format!("{message}\n"),
    }
}
