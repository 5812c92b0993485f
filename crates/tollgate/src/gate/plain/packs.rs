//! Objects in packs, with which clones begin and which `git gc` makes: found by the pack's index,
//! and put together where they are kept as differences.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::objects::{Id, Kind, LARGEST};

/// More differences on top of one another are git's to follow.
const DEPTH: u32 = 60;

/// What an index of the second version begins with.
const MAGIC: [u8; 8] = *b"\xfftOc\0\0\0\x02";

/// Where the names begin: after the magic and the numbers of names up to each first byte.
const NAMES: u64 = 8 + 256 * 4;

/// More than an entry's own beginning takes.
const BEGINNING: usize = 32;

/// The packs of a repository.
#[derive(Debug)]
pub(super) struct Packs(Vec<Pack>);

#[derive(Debug)]
struct Pack {
    index: File,
    content: File,
    /// How many names there are up to each first byte.
    fan: Vec<u32>,
}

/// What an entry of a pack is.
enum Form {
    Whole(Kind),
    /// A difference from the entry that begins so many bytes before.
    FromOffset(u64),
    /// A difference from this object.
    From(Id),
}

impl Packs {
    /// The packs in a directory. None of them, if there is one that is not understood.
    pub(super) fn at(place: &Path) -> Self {
        let mut packs = Vec::new();
        for entry in std::fs::read_dir(place).into_iter().flatten() {
            let Ok(entry) = entry else {
                return Self(Vec::new());
            };
            let path = entry.path();
            if path.extension() == Some(OsStr::new("idx")) {
                match Pack::open(&path) {
                    Some(pack) => packs.push(pack),
                    None => return Self(Vec::new()),
                }
            }
        }
        Self(packs)
    }

    pub(super) fn read(&self, id: Id) -> Option<(Kind, Vec<u8>)> {
        self.read_at_depth(id, 0)
    }

    fn read_at_depth(&self, id: Id, depth: u32) -> Option<(Kind, Vec<u8>)> {
        let found = self.0.iter().find_map(|pack| Some((pack, pack.find(id)?)));
        let (pack, offset) = found?;
        self.entry(pack, offset, depth)
    }

    /// The object whose entry in a pack begins there.
    fn entry(&self, pack: &Pack, offset: u64, depth: u32) -> Option<(Kind, Vec<u8>)> {
        if depth > DEPTH {
            return None;
        }
        let (form, size, begin) = pack.beginning(offset)?;
        let content = pack.inflated(begin, size)?;
        let (kind, base) = match form {
            Form::Whole(kind) => return Some((kind, content)),
            Form::FromOffset(back) => self.entry(pack, offset.checked_sub(back)?, depth + 1)?,
            Form::From(id) => self.read_at_depth(id, depth + 1)?,
        };
        Some((kind, applied(&base, &content)?))
    }
}

impl Pack {
    fn open(path: &Path) -> Option<Self> {
        let index = File::open(path).ok()?;
        let mut begin = vec![0; usize::try_from(NAMES).ok()?];
        index.read_exact_at(&mut begin, 0).ok()?;
        let fan = begin.strip_prefix(&MAGIC)?.chunks_exact(4);
        let fan = fan.map(|four| four.try_into().map(u32::from_be_bytes));
        Some(Self {
            fan: fan.collect::<Result<_, _>>().ok()?,
            content: File::open(path.with_extension("pack")).ok()?,
            index,
        })
    }

    /// Where the entry of an object begins, if it is in this pack.
    fn find(&self, id: Id) -> Option<u64> {
        let first = usize::from(*id.0.first()?);
        let before = match first.checked_sub(1) {
            Some(before) => *self.fan.get(before)?,
            None => 0,
        };
        let count = self.fan.get(first)?.checked_sub(before)?;
        let mut names = vec![0; usize::try_from(count).ok()? * 20];
        let at = NAMES + u64::from(before) * 20;
        self.index.read_exact_at(&mut names, at).ok()?;
        let names: Vec<&[u8]> = names.chunks_exact(20).collect();
        let at = names.binary_search(&&id.0[..]).ok()?;
        let number = u64::from(before) + u64::try_from(at).ok()?;
        // After the names and their checksums.
        let all = u64::from(*self.fan.last()?);
        let offsets = NAMES + all * 24;
        let mut four = [0; 4];
        self.index
            .read_exact_at(&mut four, offsets + number * 4)
            .ok()?;
        let offset = u32::from_be_bytes(four);
        if offset & 0x8000_0000 == 0 {
            return Some(u64::from(offset));
        }
        let mut eight = [0; 8];
        let at = offsets + all * 4 + u64::from(offset & 0x7fff_ffff) * 8;
        self.index.read_exact_at(&mut eight, at).ok()?;
        Some(u64::from_be_bytes(eight))
    }

    /// What begins there, how large it is when inflated, and where that begins.
    fn beginning(&self, offset: u64) -> Option<(Form, usize, u64)> {
        let mut bytes = [0; BEGINNING];
        // The checksum at the end of a pack is shorter than this, but an entry may be, too.
        let length = self.content.read_at(&mut bytes, offset).ok()?;
        let mut rest = bytes.get(..length)?.iter();
        let first = *rest.next()?;
        let mut size = usize::from(first & 0x0f);
        let mut shift = 4;
        let mut byte = first;
        while byte & 0x80 != 0 {
            byte = *rest.next()?;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
        }
        let form = match (first >> 4) & 7 {
            1 => Form::Whole(Kind::Commit),
            2 => Form::Whole(Kind::Tree),
            3 => Form::Whole(Kind::Blob),
            6 => {
                let mut byte = *rest.next()?;
                let mut back = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = *rest.next()?;
                    back = back.checked_add(1)?.checked_mul(128)? | u64::from(byte & 0x7f);
                }
                Form::FromOffset(back)
            }
            7 => {
                let id = rest.as_slice().get(..20)?.try_into().ok()?;
                rest = rest.as_slice().get(20..)?.iter();
                Form::From(Id(id))
            }
            _ => return None,
        };
        let used = length - rest.len();
        let begin = offset.checked_add(u64::try_from(used).ok()?)?;
        (size <= LARGEST).then_some((form, size, begin))
    }

    fn inflated(&self, begin: u64, size: usize) -> Option<Vec<u8>> {
        // What cannot be made smaller takes a little more.
        let mut packed = vec![0; size + size / 512 + 64];
        let mut length = 0;
        while length < packed.len() {
            let at = begin.checked_add(u64::try_from(length).ok()?)?;
            match self.content.read_at(packed.get_mut(length..)?, at).ok()? {
                0 => break,
                more => length += more,
            }
        }
        let packed = packed.get(..length)?;
        let bytes =
            miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, size.max(1)).ok()?;
        (bytes.len() == size).then_some(bytes)
    }
}

/// What a difference makes of a base.
fn applied(base: &[u8], difference: &[u8]) -> Option<Vec<u8>> {
    let mut rest = difference.iter();
    let mut number = || {
        let mut number: usize = 0;
        let mut shift = 0;
        loop {
            let byte = *rest.next()?;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
    };
    let (from, to) = (number()?, number()?);
    if from != base.len() || to > LARGEST {
        return None;
    }
    let mut made = Vec::with_capacity(to);
    while let Some(&order) = rest.next() {
        if order & 0x80 == 0 {
            // So many new bytes follow.
            let (new, after) = rest.as_slice().split_at_checked(usize::from(order))?;
            if new.is_empty() {
                return None;
            }
            made.extend_from_slice(new);
            rest = after.iter();
            continue;
        }
        let mut part = |bits: std::ops::Range<u32>| {
            let mut number = 0;
            for (place, bit) in bits.enumerate() {
                if order & (1 << bit) != 0 {
                    number |= usize::from(*rest.next()?) << (place * 8);
                }
            }
            Some(number)
        };
        let at = part(0..4)?;
        let length = match part(4..7)? {
            0 => 0x10000,
            length => length,
        };
        made.extend_from_slice(base.get(at..at.checked_add(length)?)?);
        if made.len() > to {
            return None;
        }
    }
    (made.len() == to).then_some(made)
}
