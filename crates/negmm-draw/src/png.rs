//! Heat maps as PNG images inside an SVG: one colour with the value as opacity, so that the same image suits light and dark
//! backgrounds.

use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};

/// The colour of full density: a blue with contrast on white and on dark.
pub(crate) const COLOUR: [u8; 3] = [0x1b, 0x7b, 0xc9];
/// Levels of opacity: enough for the eye, few enough to compress well.
const SHADES: usize = 64;

/// A PNG of `columns` × `rows` pixels as a data URI. `values` from 0 to 1, column by column, each from bottom to top.
pub(crate) fn data_uri(columns: usize, rows: usize, values: &[f64]) -> String {
    format!("data:image/png;base64,{}", base64(&encode(columns, rows, values)))
}

fn encode(columns: usize, rows: usize, values: &[f64]) -> Vec<u8> {
    let shade = |value: f64| (value.clamp(0.0, 1.0) * (SHADES - 1) as f64).round() as u8;
    let mut lines = Vec::with_capacity((columns + 1) * rows);
    let mut above = vec![0u8; columns];
    for row in (0..rows).rev() {
        // Filter 2: each pixel as the difference from the one above, which is mostly nothing.
        lines.push(2);
        for (column, above) in above.iter_mut().enumerate() {
            let pixel = shade(values[column * rows + row]);
            lines.push(pixel.wrapping_sub(*above));
            *above = pixel;
        }
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail.
    let packed = packed.write_all(&lines).and_then(|()| packed.finish()).unwrap_or_default();

    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend((columns as u32).to_be_bytes());
    header.extend((rows as u32).to_be_bytes());
    // 8 bits a pixel, each the number of a colour.
    header.extend([8, 3, 0, 0, 0]);
    chunk(&mut png, b"IHDR", &header);
    chunk(&mut png, b"PLTE", &COLOUR.repeat(SHADES));
    let alpha: Vec<u8> = (0..SHADES).map(|shade| (shade * 255 / (SHADES - 1)) as u8).collect();
    chunk(&mut png, b"tRNS", &alpha);
    chunk(&mut png, b"IDAT", &packed);
    chunk(&mut png, b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], bytes: &[u8]) {
    png.extend((bytes.len() as u32).to_be_bytes());
    let start = png.len();
    png.extend(kind);
    png.extend(bytes);
    let check = crc(&png[start..]);
    png.extend(check.to_be_bytes());
}

/// CRC-32, the checksum of PNG, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn base64_as_the_standard_has_it() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn check_sum_as_the_standard_has_it() {
        assert_eq!(crc(b"IEND"), 0xae42_6082);
    }

    #[test]
    fn pixels_come_back() {
        // Two columns, three rows, from the bottom.
        let png = encode(2, 3, &[0.0, 0.5, 1.0, 2.0, f64::NAN, -1.0]);
        let at = png.windows(4).position(|four| four == b"IDAT").unwrap();
        let mut lines = Vec::new();
        flate2::read::ZlibDecoder::new(&png[at + 4..]).read_to_end(&mut lines).unwrap();
        let mut above = [0u8; 2];
        let mut rows = Vec::new();
        for line in lines.chunks(3) {
            assert_eq!(line[0], 2);
            above = [above[0].wrapping_add(line[1]), above[1].wrapping_add(line[2])];
            rows.push(above);
        }
        assert_eq!(rows, [[63, 0], [32, 0], [0, 63]]);
    }
}
