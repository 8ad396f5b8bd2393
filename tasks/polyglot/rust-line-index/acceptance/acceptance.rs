#[path = "../src/line_index.rs"]
mod line_index;
#[path = "../src/report.rs"]
mod report;

use line_index::{LineIndex, Position};

fn at(line: usize, column: usize) -> Position {
    Position { line, column }
}

#[test]
fn columns_are_characters() {
    let index = LineIndex::new("aé€x\ny");
    assert_eq!(index.position(3), Some(at(0, 2)));
    assert_eq!(index.position(6), Some(at(0, 3)));
    assert_eq!(index.position(8), Some(at(1, 0)));
}

#[test]
fn behind_the_end() {
    let index = LineIndex::new("ab");
    assert_eq!(index.position(2), Some(at(0, 2)));
    assert_eq!(index.position(3), None);
}

#[test]
fn the_way_back() {
    let index = LineIndex::new("é\r\nb");
    assert_eq!(index.offset(at(0, 1)), Some(2));
    assert_eq!(index.offset(at(1, 0)), Some(4));
    assert_eq!(index.offset(at(1, 2)), None);
}

#[test]
fn reports() {
    assert_eq!(report::report("é!", 2, "odd"), "1:2: odd\né!\n");
}
