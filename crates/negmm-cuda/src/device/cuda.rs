//! Responsible for an NVIDIA card: driver and compiler are loaded when they are asked for.

use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::sys::{CUdevice_attribute as Attribute, CUfunction_attribute};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::{Ptx, result as nvrtc, sys as nvrtc_sys};
use negmm::{Error, Result};

use super::{Device, Failure};
use crate::cache;
use crate::record::{JobRecord, bytes};
use crate::source::Source;

/// The oldest cards that kernels are written for (Volta): independent threads, f32 arithmetic as the standard has it.
const LEAST_CAPABILITY: (i32, i32) = (7, 0);

/// A card of this machine.
#[derive(Debug)]
pub struct Card {
    context: Arc<CudaContext>,
    name: String,
    capability: (i32, i32),
    shared_memory: usize,
    multiprocessors: usize,
}

/// A compiled kernel.
pub struct Kernel {
    function: CudaFunction,
    blocks: usize,
    threads: usize,
    shared: usize,
}

/// What the driver says went wrong.
fn failed(what: &str) -> impl Fn(DriverError) -> Failure {
    move |error| {
        let words = error.error_string().map(|words| words.to_string_lossy().into_owned());
        format!("{what} failed: {}", words.unwrap_or_else(|_| format!("{:?}", error.0)))
    }
}

impl Card {
    /// The first card.
    ///
    /// # Errors
    /// When there is no driver, no card, none that is new enough, or no compiler of kernels; it says which.
    pub fn first() -> Result<Self> {
        Self::found().map_err(|failure| Error::options(format!("engine cuda: {failure}")))
    }

    fn found() -> std::result::Result<Self, Failure> {
        // SAFETY: looks for libraries by their names; nothing of them is called.
        let (driver, compiler) = unsafe { (cudarc::driver::sys::is_culib_present(), nvrtc_sys::is_culib_present()) };
        if !driver {
            return Err("there is no NVIDIA driver (libcuda) on this machine".into());
        }
        let cards = CudaContext::device_count().map_err(failed("asking the driver for cards"))?;
        if cards < 1 {
            return Err("the NVIDIA driver finds no card".into());
        }
        if !compiler {
            return Err("there is a card, but not the compiler of kernels (libnvrtc, a part of CUDA)".into());
        }
        let context = CudaContext::new(0).map_err(failed("opening the card"))?;
        // SAFETY: every memory is used by the thread and stream that allocated it until it is synchronised, as `launch` and `read` do.
        unsafe { context.disable_event_tracking() };
        let attribute = |which| context.attribute(which).map_err(failed("asking the card"));
        let capability = context.compute_capability().map_err(failed("asking the card"))?;
        let name = context.name().map_err(failed("asking the card"))?;
        if capability < LEAST_CAPABILITY {
            return Err(format!(
                "{name} has compute capability {}.{}, and {}.{} is needed",
                capability.0, capability.1, LEAST_CAPABILITY.0, LEAST_CAPABILITY.1
            ));
        }
        let shared = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let multiprocessors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok(Self {
            context,
            name,
            capability,
            shared_memory: shared as usize,
            multiprocessors: multiprocessors as usize,
        })
    }

    /// Its name, compute capability, multiprocessors and memory, in words.
    pub fn describe(&self) -> String {
        let gigabytes = self.context.total_mem().unwrap_or(0) as f64 / 1e9;
        let (major, minor) = self.capability;
        format!(
            "{}, compute capability {major}.{minor}, {} multiprocessors, {gigabytes:.0} GB",
            self.name, self.multiprocessors
        )
    }

    /// The machine code of a source for this card.
    fn compiled(&self, source: &Source) -> std::result::Result<Vec<u8>, Failure> {
        let architecture = format!("--gpu-architecture=sm_{}{}", self.capability.0, self.capability.1);
        let options =
            [architecture.as_str(), "--fmad=false", "--std=c++17", "-default-device", "--extra-device-vectorization"];
        let name = source.name(&options.join(" "));
        if let Some(kernel) = cache::find(&name) {
            return Ok(kernel);
        }
        let kernel = compile(&source.text, &options)?;
        cache::keep(&name, &kernel);
        Ok(kernel)
    }
}

/// Machine code by NVRTC.
fn compile(text: &str, options: &[&str]) -> std::result::Result<Vec<u8>, Failure> {
    let text = CString::new(text).map_err(|error| error.to_string())?;
    let words = |error: nvrtc::NvrtcError| format!("compiling a kernel failed: {:?}", error.0);
    let program = nvrtc::create_program(&text, None).map_err(words)?;
    // SAFETY: the program was just created and is destroyed once, here.
    unsafe {
        let compiled = nvrtc::compile_program(program, options).map_err(|error| {
            let log = nvrtc::get_program_log(program).unwrap_or_default();
            let log: Vec<u8> = log.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect();
            format!("{}: {}", words(error), String::from_utf8_lossy(&log))
        });
        let code = compiled.and_then(|()| {
            let mut size = 0;
            nvrtc_sys::nvrtcGetCUBINSize(program, &raw mut size).result().map_err(words)?;
            let mut code = vec![0_u8; size];
            nvrtc_sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()).result().map_err(words)?;
            Ok(code)
        });
        let _ = nvrtc::destroy_program(program);
        code
    }
}

impl Device for Card {
    type Memory = CudaSlice<u8>;
    type Kernel = Kernel;
    type Queue = Arc<CudaStream>;
    /// The records.
    type Launch = CudaSlice<u8>;
    const ROOM_IN_MEMORY: bool = false;

    fn shared_memory(&self) -> usize {
        self.shared_memory
    }

    fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    fn queue(&self) -> std::result::Result<Self::Queue, Failure> {
        self.context.new_stream().map_err(failed("opening a stream"))
    }

    fn kernel(&self, source: &Source) -> std::result::Result<Kernel, Failure> {
        let code = self.compiled(source)?;
        let module = self.context.load_module(Ptx::from_binary(code)).map_err(failed("loading a kernel"))?;
        let function = module.load_function(source.entry).map_err(failed("loading a kernel"))?;
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(attribute, source.shared as i32).map_err(failed("asking for shared memory"))?;
        Ok(Kernel { function, blocks: source.blocks, threads: source.threads, shared: source.shared })
    }

    fn resident(&self, kernel: &Kernel) -> usize {
        let blocks =
            kernel.function.occupancy_max_active_blocks_per_multiprocessor(kernel.threads as u32, kernel.shared, None);
        blocks.map_or(1, |blocks| blocks as usize)
    }

    fn free_memory(&self) -> std::result::Result<usize, Failure> {
        let (free, _) = self.context.mem_get_info().map_err(failed("asking for the card's memory"))?;
        Ok(free)
    }

    fn memory(&self, queue: &Self::Queue, content: &[u8], bytes: usize) -> std::result::Result<CudaSlice<u8>, Failure> {
        let bytes = bytes.max(content.len()).max(1);
        let mut memory = queue.alloc_zeros::<u8>(bytes).map_err(failed("taking memory of the card"))?;
        self.write(queue, &mut memory, content)?;
        Ok(memory)
    }

    fn write(
        &self,
        queue: &Self::Queue,
        memory: &mut CudaSlice<u8>,
        content: &[u8],
    ) -> std::result::Result<(), Failure> {
        if !content.is_empty() {
            queue
                .memcpy_htod(content, &mut memory.slice_mut(..content.len()))
                .map_err(failed("copying to the card"))?;
        }
        // Others read it on streams of their own.
        queue.synchronize().map_err(failed("copying to the card"))
    }

    fn address(memory: &CudaSlice<u8>) -> u64 {
        memory.device_ptr(memory.stream()).0
    }

    fn read(
        &self,
        queue: &Self::Queue,
        memory: &CudaSlice<u8>,
        from: usize,
        bytes: &mut [u8],
    ) -> std::result::Result<(), Failure> {
        let part = memory.slice(from..from + bytes.len());
        queue.memcpy_dtoh(&part, bytes).map_err(failed("copying from the card"))?;
        queue.synchronize().map_err(failed("copying from the card"))
    }

    fn launch(
        &self,
        queue: &Self::Queue,
        kernel: &Kernel,
        jobs: &[JobRecord],
        board: &CudaSlice<u8>,
        epochs: usize,
    ) -> std::result::Result<CudaSlice<u8>, Failure> {
        let records = self.memory(queue, bytes(jobs), 0)?;
        let config = LaunchConfig {
            grid_dim: ((jobs.len() * kernel.blocks) as u32, 1, 1),
            block_dim: (kernel.threads as u32, 1, 1),
            shared_mem_bytes: kernel.shared as u32,
        };
        let epochs = epochs as i32;
        let mut launch = queue.launch_builder(&kernel.function);
        launch.arg(&records).arg(board).arg(&epochs);
        // SAFETY: the records are what the kernel expects, and their addresses those of memory that outlives the launch.
        let launched =
            unsafe { if kernel.blocks > 1 { launch.launch_cooperative(config) } else { launch.launch(config) } };
        launched.map_err(failed("starting a kernel"))?;
        Ok(records)
    }

    fn run(
        &self,
        queue: &Self::Queue,
        kernel: &Kernel,
        record: u64,
        blocks: usize,
    ) -> std::result::Result<(), Failure> {
        let config = LaunchConfig {
            grid_dim: (blocks as u32, 1, 1),
            block_dim: (kernel.threads as u32, 1, 1),
            shared_mem_bytes: kernel.shared as u32,
        };
        let mut launch = queue.launch_builder(&kernel.function);
        launch.arg(&record);
        // SAFETY: at the address is the record that the kernel expects, and its addresses are those of memory that outlives the launch.
        unsafe { launch.launch(config) }.map_err(failed("starting a kernel"))?;
        queue.synchronize().map_err(failed("a kernel"))
    }

    fn wait(&self, queue: &Self::Queue, _: CudaSlice<u8>) -> std::result::Result<(), Failure> {
        queue.synchronize().map_err(failed("a kernel"))
    }
}
