//! Values written as Python's `str` and `repr` do.

use minijinja::value::{Value, ValueKind};

/// `repr(float)`: the shortest digits that read back, with an exponent below 1e-4 and from 1e16 on.
pub fn float_repr(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("Rust writes an exponent for {:e}");
    let exponent: i32 = exponent.parse().expect("Rust writes the exponent as a number");
    if !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = number.to_string();
    if plain.contains('.') {
        plain
    } else {
        plain + ".0"
    }
}

/// A float if the value is one; integers and booleans are none.
pub fn as_float(value: &Value) -> Option<f64> {
    if value.kind() == ValueKind::Number && !value.is_integer() {
        f64::try_from(value.clone()).ok()
    } else {
        None
    }
}

/// `str(value)`
pub fn to_str(value: &Value) -> String {
    match value.kind() {
        ValueKind::String => value.as_str().unwrap_or_default().to_owned(),
        ValueKind::Number | ValueKind::Seq | ValueKind::Map => repr(value),
        _ => value.to_string(),
    }
}

/// `repr(value)`
pub fn repr(value: &Value) -> String {
    match value.kind() {
        ValueKind::String => string_repr(value.as_str().unwrap_or_default()),
        ValueKind::Number => as_float(value).map_or_else(|| value.to_string(), float_repr),
        ValueKind::Seq => {
            let items: Vec<String> = value.try_iter().into_iter().flatten().map(|item| repr(&item)).collect();
            format!("[{}]", items.join(", "))
        }
        ValueKind::Map => {
            let items: Vec<String> = value
                .try_iter()
                .into_iter()
                .flatten()
                .map(|key| format!("{}: {}", repr(&key), repr(&value.get_item(&key).unwrap_or_default())))
                .collect();
            format!("{{{}}}", items.join(", "))
        }
        _ => value.to_string(),
    }
}

fn string_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut written = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            _ if character == quote => written.extend(['\\', quote]),
            _ if character.is_control() || character == '\u{A0}' || character == '\u{AD}' => {
                written.push_str(&format!("\\x{:02x}", character as u32));
            }
            _ => written.push(character),
        }
    }
    written.push(quote);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_python_does() {
        for (number, expected) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (123456.789, "123456.789"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e22, "1.25e+22"),
            (1e100, "1e+100"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(float_repr(number), expected);
        }
    }

    #[test]
    fn strings_choose_their_quotes() {
        assert_eq!(string_repr("it's"), "\"it's\"");
        assert_eq!(string_repr("it's \"so\""), "'it\\'s \"so\"'");
        assert_eq!(string_repr("a\n\\\u{7}é"), "'a\\n\\\\\\x07é'");
    }
}
