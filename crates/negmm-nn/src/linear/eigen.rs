//! Eigenvalues and eigenvectors of a symmetric matrix: Householder tridiagonalisation, then implicit QL steps.

/// Steps of QL for one eigenvalue at most; three suffice on average.
const MOST_STEPS: usize = 60;

/// Eigenvalues (in no order) and eigenvectors of a symmetric matrix of `n` rows; column `k` of the vectors belongs to
/// value `k`. Both are row-major.
pub fn symmetric(mut a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut diagonal, mut off) = (vec![0.0; n], vec![0.0; n]);
    tridiagonal(&mut a, n, &mut diagonal, &mut off);
    implicit_ql(&mut a, n, &mut diagonal, &mut off);
    (diagonal, a)
}

/// Replaces `a` by the orthogonal matrix that makes it tridiagonal.
fn tridiagonal(a: &mut [f64], n: usize, diagonal: &mut [f64], off: &mut [f64]) {
    for i in (1..n).rev() {
        let scale: f64 = (0..i).map(|k| a[i * n + k].abs()).sum();
        if i == 1 || scale == 0.0 {
            off[i] = a[i * n + i - 1];
            diagonal[i] = 0.0;
            continue;
        }
        let mut h = 0.0;
        for k in 0..i {
            a[i * n + k] /= scale;
            h += a[i * n + k] * a[i * n + k];
        }
        let f = a[i * n + i - 1];
        let g = if f >= 0.0 { -h.sqrt() } else { h.sqrt() };
        off[i] = scale * g;
        h -= f * g;
        a[i * n + i - 1] = f - g;
        let mut sum = 0.0;
        for j in 0..i {
            a[j * n + i] = a[i * n + j] / h;
            let mut g: f64 = (0..=j).map(|k| a[j * n + k] * a[i * n + k]).sum();
            g += (j + 1..i).map(|k| a[k * n + j] * a[i * n + k]).sum::<f64>();
            off[j] = g / h;
            sum += off[j] * a[i * n + j];
        }
        let half = sum / (h + h);
        for j in 0..i {
            let f = a[i * n + j];
            off[j] -= half * f;
            let g = off[j];
            for k in 0..=j {
                a[j * n + k] -= f * off[k] + g * a[i * n + k];
            }
        }
        diagonal[i] = h;
    }
    for i in 0..n {
        if i > 0 && diagonal[i] != 0.0 {
            for j in 0..i {
                let g: f64 = (0..i).map(|k| a[i * n + k] * a[k * n + j]).sum();
                for k in 0..i {
                    a[k * n + j] -= g * a[k * n + i];
                }
            }
        }
        diagonal[i] = a[i * n + i];
        a[i * n + i] = 1.0;
        for j in 0..i {
            a[j * n + i] = 0.0;
            a[i * n + j] = 0.0;
        }
    }
}

/// Makes a tridiagonal matrix diagonal, and turns the columns of `vectors` with it.
fn implicit_ql(vectors: &mut [f64], n: usize, diagonal: &mut [f64], off: &mut [f64]) {
    off.rotate_left(1);
    if let Some(last) = off.last_mut() {
        *last = 0.0;
    }
    for l in 0..n {
        for _ in 0..MOST_STEPS {
            let small = |m: &usize| {
                let size = diagonal[*m].abs() + diagonal[m + 1].abs();
                off[*m].abs() <= f64::EPSILON * size
            };
            let m = (l..n - 1).find(small).unwrap_or(n - 1);
            if m == l {
                break;
            }
            let mut g = (diagonal[l + 1] - diagonal[l]) / (2.0 * off[l]);
            let r = libm::hypot(g, 1.0);
            g = diagonal[m] - diagonal[l] + off[l] / (g + if g >= 0.0 { r } else { -r });
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut split = false;
            for i in (l..m).rev() {
                let (f, b) = (s * off[i], c * off[i]);
                let r = libm::hypot(f, g);
                off[i + 1] = r;
                if r == 0.0 {
                    diagonal[i + 1] -= p;
                    off[m] = 0.0;
                    split = true;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = diagonal[i + 1] - p;
                let r = (diagonal[i] - g) * s + 2.0 * c * b;
                p = s * r;
                diagonal[i + 1] = g + p;
                g = c * r - b;
                for k in 0..n {
                    let row = &mut vectors[k * n..(k + 1) * n];
                    let f = row[i + 1];
                    row[i + 1] = s * row[i] + c * f;
                    row[i] = c * row[i] - s * f;
                }
            }
            if !split {
                diagonal[l] -= p;
                off[l] = g;
                off[m] = 0.0;
            }
        }
    }
}
