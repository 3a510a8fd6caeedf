//! The mutexes with which tt-umd, in the same process, serialises requests through the routing queues
//! of a device: robust ones in shared memory (wormhole.md 2.3).
//!
//! Only their threads may release them, and a client of the socket can stop at any moment. So each
//! mutex is taken by a thread of its own, which gives it back when it is told to, or when the client
//! was silent for too long.

use memmap2::MmapRaw;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the files of these mutexes are called, before the number of the device.
const PREFIX: &str = "/dev/shm/TT_UMD_LOCK.NON_MMIO_";
/// The length of such a file: the mutex, a flag, and the numbers of the thread and process that have
/// it.
const BYTES: usize = MUTEX_BYTES + 16;
const MUTEX_BYTES: usize = size_of::<libc::pthread_mutex_t>();
/// The flag of a mutex that is ready.
const READY: u64 = 0x5454_554D_444D_5458;
/// How long to wait for a mutex: tt-umd has it for one access to a remote chip.
const PATIENCE: Duration = Duration::from_secs(20);
/// A pause before one is taken: the mutex is not fair, and tt-umd may wait for it.
const PAUSE: Duration = Duration::from_micros(200);
/// How long to keep one without a sign of life.
const LONGEST_SILENCE: Duration = Duration::from_secs(4);

/// A mutex in the hands of a thread of its own. Dropped, it is given back.
pub(crate) struct Held {
    /// Tells the thread that the client lives, and, dropped, to end.
    lives: Sender<()>,
}

impl Held {
    /// Tells that its client lives; returns false if the mutex was given back for its silence.
    pub(crate) fn lives(&self) -> bool {
        self.lives.send(()).is_ok()
    }
}

/// Takes the mutex of a device. None: tt-umd has not made one in this process.
///
/// # Errors
/// When tt-umd keeps it, or it is not one.
pub(crate) fn take(device: u8) -> io::Result<Option<Held>> {
    let names = names(&std::fs::read_to_string("/proc/self/maps")?);
    let Some(name) = names.get(usize::from(device)).or(names.last()) else { return Ok(None) };
    let mut options = File::options();
    let file = options.read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(name)?;
    if file.metadata()?.len() != BYTES as u64 {
        return Err(io::Error::other(format!("{name}: not a mutex of tt-umd")));
    }
    let mutex = Mutex(MmapRaw::map_raw(&file)?);
    if mutex.flag() != READY {
        return Ok(None);
    }
    let ((told, tells), (lives, life)) = (channel(), channel());
    thread::Builder::new().name("umd-mutex".into()).spawn(move || mutex.keep(&told, &life))?;
    tells.recv().map_err(|_| io::Error::other("its thread ended"))??;
    Ok(Some(Held { lives }))
}

/// Returns the files of the mutexes that a process has mapped, in the order of the devices.
fn names(maps: &str) -> Vec<String> {
    let paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let numbered = paths.filter_map(|path| {
        let number = path.strip_prefix(PREFIX)?.split('_').next()?.parse::<i64>().ok()?;
        Some((number, path.to_owned()))
    });
    let mut names: Vec<_> = numbered.collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|(_, path)| path).collect()
}

struct Mutex(MmapRaw);

impl Mutex {
    fn flag(&self) -> u64 {
        let mut flag = [0; 8];
        // SAFETY: the mapping has `BYTES` bytes, and the flag is behind the mutex.
        unsafe { self.0.as_ptr().add(MUTEX_BYTES).copy_to(flag.as_mut_ptr(), flag.len()) };
        u64::from_le_bytes(flag)
    }

    /// Takes the mutex and says so, keeps it for as long as the client lives, and gives it back.
    fn keep(self, told: &Sender<io::Result<()>>, life: &Receiver<()>) {
        thread::sleep(PAUSE);
        let taken = self.lock();
        let has = taken.is_ok();
        let heard = told.send(taken).is_ok();
        if has {
            while heard && life.recv_timeout(LONGEST_SILENCE).is_ok() {}
            // SAFETY: this thread has the mutex, which is mapped until this function returns.
            unsafe { libc::pthread_mutex_unlock(self.at()) };
        }
    }

    fn at(&self) -> *mut libc::pthread_mutex_t {
        self.0.as_mut_ptr().cast()
    }

    fn lock(&self) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
        let until = libc::timespec { tv_sec: (now + PATIENCE).as_secs() as i64, tv_nsec: 0 };
        // SAFETY: tt-umd has initialised the mutex, as its flag says; it is mapped.
        match unsafe { libc::pthread_mutex_timedlock(self.at(), &raw const until) } {
            0 => Ok(()),
            // Its last thread died with it.
            libc::EOWNERDEAD => {
                // SAFETY: this thread has the mutex.
                unsafe { libc::pthread_mutex_consistent(self.at()) };
                Ok(())
            }
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn the_mutexes_of_a_process_are_in_the_order_of_its_devices() {
        let maps = "7f00-7f01 rw-s 00000000 00:1a 9 /dev/shm/TT_UMD_LOCK.NON_MMIO_1000_Undefined
7f01-7f02 rw-s 00000000 00:1a 8 /dev/shm/TT_UMD_LOCK.NON_MMIO_999_Undefined
7f01-7f02 rw-s 00000000 00:1a 8 /dev/shm/TT_UMD_LOCK.NON_MMIO_999_Undefined
7f02-7f03 rw-s 00000000 00:1a 7 /dev/shm/TT_UMD_LOCK.ARC_MSG
7f03-7f04 r--p 00000000 00:00 0
";
        let prefix = super::PREFIX;
        assert_eq!(
            names(maps),
            [format!("{prefix}999_Undefined"), format!("{prefix}1000_Undefined")]
        );
        assert!(names("").is_empty());
    }
}
