//! Dot products of short vectors of whole numbers, for many vectors at a time.
//!
//! All sums are exact, so every instruction set gives the same. For values of 7 bits the processor
//! has instructions that make 64 products (AVX-512 VNNI) or 32 (AVX2) at a time; the compiler does
//! not find them by itself, so they are called by name, through safe functions. Sums are far from
//! overflowing; checks of that would undo the lanes in tests, so they wrap.

/// Vectors that lie side by side.
pub const LANES: usize = 16;

/// Four values of each of [`LANES`] elements.
pub type Quads = [[u8; 4]; LANES];

/// Query elements that share each load of an image's elements.
pub const TILE: usize = 8;

/// Four values of each of [`TILE`] query elements, the first in the lowest byte.
pub type Factors = [i32; TILE];

/// The largest value of vectors of 7 bits; their factors are from -127 on.
pub const NARROW: u8 = 127;

/// The dot products of [`TILE`] query elements with [`LANES`] elements of an image.
pub type Dots = [[i32; LANES]; TILE];

/// The dot products on any processor, of any values.
#[inline(always)]
pub(crate) fn portable(block: &[Quads], rows: &[Factors]) -> Dots {
    let mut dots = [[0; LANES]; TILE];
    for (values, factors) in block.iter().zip(rows) {
        let values = values.map(u32::from_le_bytes);
        for (dots, factor) in dots.iter_mut().zip(factors) {
            add_products(dots, &values, *factor as u32);
        }
    }
    dots
}

/// The dot products of one query element with [`LANES`] elements, on any processor, of any values.
#[inline(always)]
pub(crate) fn portable_one(block: &[Quads], row: &[i32]) -> [i32; LANES] {
    let mut dots = [0; LANES];
    for (values, factor) in block.iter().zip(row) {
        add_products(&mut dots, &values.map(u32::from_le_bytes), *factor as u32);
    }
    dots
}

/// The dot products of values with factors that have a sign, on any processor.
#[inline(always)]
pub fn portable_signed(block: &[Quads], rows: &[Factors]) -> Dots {
    std::array::from_fn(|t| signed(block, rows.iter().map(|factors| factors[t])))
}

/// As [`portable_one`], with factors that have a sign.
#[inline(always)]
pub(crate) fn portable_one_signed(block: &[Quads], row: &[i32]) -> [i32; LANES] {
    signed(block, row.iter().copied())
}

#[inline(always)]
fn signed(block: &[Quads], row: impl Iterator<Item = i32>) -> [i32; LANES] {
    let mut dots = [0i32; LANES];
    for (values, factors) in block.iter().zip(row) {
        let factors = factors.to_le_bytes().map(|byte| i32::from(byte as i8));
        for (dot, values) in dots.iter_mut().zip(values) {
            for (value, factor) in values.iter().zip(factors) {
                *dot = dot.wrapping_add(i32::from(*value) * factor);
            }
        }
    }
    dots
}

#[inline(always)]
fn add_products(dots: &mut [i32; LANES], values: &[u32; LANES], factor: u32) {
    for i in 0..LANES {
        let product = |k: u32| ((values[i] >> (8 * k)) & 255) * ((factor >> (8 * k)) & 255);
        dots[i] = dots[i].wrapping_add((product(0) + product(1) + product(2) + product(3)) as i32);
    }
}

/// Values of one vector that are multiplied at a time.
pub(crate) const WIDE: usize = 64;

/// The dot product of one vector with signed factors, on any processor.
#[inline(always)]
pub(crate) fn portable_row(values: &[[u8; WIDE]], factors: &[[u8; WIDE]]) -> i32 {
    let products = values.as_flattened().iter().zip(factors.as_flattened());
    products.fold(0i32, |sum, (value, factor)| sum.wrapping_add(i32::from(*value) * i32::from(*factor as i8)))
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{avx2, avx2_one, avx2_row, vnni, vnni_one, vnni_row};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use bytemuck::cast;

    use super::{Dots, Factors, LANES, Quads, TILE, WIDE};

    /// The dot products of values up to [`super::NARROW`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(crate) fn vnni(block: &[Quads], rows: &[Factors]) -> Dots {
        let mut sums = [_mm512_setzero_si512(); TILE];
        for (values, factors) in block.iter().zip(rows) {
            let values: __m512i = cast(*values);
            for t in 0..TILE {
                sums[t] = _mm512_dpbusd_epi32(sums[t], values, _mm512_set1_epi32(factors[t]));
            }
        }
        sums.map(cast)
    }

    /// As [`vnni`], of one query element.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(crate) fn vnni_one(block: &[Quads], row: &[i32]) -> [i32; LANES] {
        let mut sums = _mm512_setzero_si512();
        for (values, factor) in block.iter().zip(row) {
            sums = _mm512_dpbusd_epi32(sums, cast(*values), _mm512_set1_epi32(*factor));
        }
        cast(sums)
    }

    /// The dot product of one vector of values up to [`super::NARROW`] with signed factors.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(crate) fn vnni_row(values: &[[u8; WIDE]], factors: &[[u8; WIDE]]) -> i32 {
        let mut sum = _mm512_setzero_si512();
        for (values, factors) in values.iter().zip(factors) {
            sum = _mm512_dpbusd_epi32(sum, cast(*values), cast(*factors));
        }
        _mm512_reduce_add_epi32(sum)
    }

    /// As [`vnni_row`].
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn avx2_row(values: &[[u8; WIDE]], factors: &[[u8; WIDE]]) -> i32 {
        let ones = _mm256_set1_epi16(1);
        let mut sums = [_mm256_setzero_si256(); 2];
        for (values, factors) in values.iter().zip(factors) {
            let (values, factors): ([__m256i; 2], [__m256i; 2]) = (cast(*values), cast(*factors));
            for half in 0..2 {
                let pairs = _mm256_maddubs_epi16(values[half], factors[half]);
                sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(pairs, ones));
            }
        }
        cast::<__m256i, [i32; 8]>(_mm256_add_epi32(sums[0], sums[1])).iter().sum()
    }

    /// As [`avx2`], of one query element.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn avx2_one(block: &[Quads], row: &[i32]) -> [i32; LANES] {
        let mut sums = [_mm256_setzero_si256(); 2];
        let ones = _mm256_set1_epi16(1);
        for (values, factor) in block.iter().zip(row) {
            let values: [__m256i; 2] = cast(*values);
            for (sum, values) in sums.iter_mut().zip(values) {
                let pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi32(*factor));
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
            }
        }
        cast(sums)
    }

    /// Query elements whose sums fit the registers of AVX2 together.
    const FEW: usize = 4;

    /// The dot products of values up to [`super::NARROW`]: two products of them fit 16 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn avx2(block: &[Quads], rows: &[Factors]) -> Dots {
        let mut dots = [[0; LANES]; TILE];
        let ones = _mm256_set1_epi16(1);
        for (part, dots) in dots.as_chunks_mut::<FEW>().0.iter_mut().enumerate() {
            let mut sums = [[_mm256_setzero_si256(); 2]; FEW];
            for (values, factors) in block.iter().zip(rows) {
                let values: [__m256i; 2] = cast(*values);
                for t in 0..FEW {
                    let factor = _mm256_set1_epi32(factors[part * FEW + t]);
                    for half in 0..2 {
                        let pairs = _mm256_maddubs_epi16(values[half], factor);
                        sums[t][half] = _mm256_add_epi32(sums[t][half], _mm256_madd_epi16(pairs, ones));
                    }
                }
            }
            *dots = sums.map(cast);
        }
        dots
    }
}
