//! Where in a text a byte offset is.

/// A place in a text; both numbers count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// The beginnings of a text's lines.
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub fn new(text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        LineIndex { text, starts }
    }

    /// One more than the line ends: a text that ends with one has an empty last line.
    pub fn line_count(&self) -> usize {
        self.text.lines().count()
    }

    /// A line without its end; None when there is no such line.
    pub fn line_text(&self, line: usize) -> Option<&'a str> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        Some(self.text[start..end].strip_suffix('\r').filter(|_| end < self.text.len()).unwrap_or(&self.text[start..end]))
    }

    /// The position of a byte offset: the column in characters, None behind the end of the text.
    pub fn position(&self, offset: usize) -> Option<Position> {
        if offset > self.text.len() {
            return None;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let inside = offset - self.starts[line];
        let text = self.line_text(line)?;
        let column = if inside >= text.len() {
            text.chars().count()
        } else {
            text.char_indices().take_while(|(at, _)| *at <= inside).count() - 1
        };
        Some(Position { line, column })
    }

    /// The byte offset at which a character begins; one column past a line's last character is the line's end.
    pub fn offset(&self, position: Position) -> Option<usize> {
        let text = self.line_text(position.line)?;
        let ends = std::iter::once(text.len());
        let inside = text.char_indices().map(|(at, _)| at).chain(ends).nth(position.column)?;
        Some(self.starts[position.line] + inside)
    }
}
