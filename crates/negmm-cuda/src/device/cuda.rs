//! An NVIDIA GPU. The driver and NVRTC are loaded at run time.

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

/// Minimal compute capability (Volta): independent thread scheduling, IEEE f32 arithmetic.
const MIN_CAPABILITY: (i32, i32) = (7, 0);

/// A GPU of this machine.
#[derive(Debug)]
pub struct CudaDevice {
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

/// Formats a driver error.
fn failed(what: &str) -> impl Fn(DriverError) -> Failure {
    move |error| {
        let words = error.error_string().map(|words| words.to_string_lossy().into_owned());
        format!("{what} failed: {}", words.unwrap_or_else(|_| format!("{:?}", error.0)))
    }
}

impl CudaDevice {
    /// The first GPU.
    ///
    /// # Errors
    /// When there is no driver, no GPU, no NVRTC, or the GPU is too old; the message says which.
    pub fn first() -> Result<Self> {
        Self::open_first().map_err(|failure| Error::options(format!("engine cuda: {failure}")))
    }

    fn open_first() -> std::result::Result<Self, Failure> {
        // SAFETY: looks for libraries by name; calls nothing in them.
        let (driver, compiler) = unsafe { (cudarc::driver::sys::is_culib_present(), nvrtc_sys::is_culib_present()) };
        if !driver {
            return Err("no NVIDIA driver (libcuda) was found".into());
        }
        let devices = CudaContext::device_count().map_err(failed("querying the number of GPUs"))?;
        if devices < 1 {
            return Err("the NVIDIA driver found no GPU".into());
        }
        if !compiler {
            return Err("there is a GPU, but no kernel compiler (libnvrtc, part of the CUDA toolkit)".into());
        }
        let context = CudaContext::new(0).map_err(failed("opening the GPU"))?;
        // SAFETY: every allocation is used only on the stream that made it until that stream is synchronised, as `write` and `wait` do.
        unsafe { context.disable_event_tracking() };
        let attribute = |which| context.attribute(which).map_err(failed("querying the GPU"));
        let capability = context.compute_capability().map_err(failed("querying the GPU"))?;
        let name = context.name().map_err(failed("querying the GPU"))?;
        if capability < MIN_CAPABILITY {
            return Err(format!(
                "{name} has compute capability {}.{}, and {}.{} is needed",
                capability.0, capability.1, MIN_CAPABILITY.0, MIN_CAPABILITY.1
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

    /// Name, compute capability, multiprocessors and memory.
    pub fn describe(&self) -> String {
        let gigabytes = self.context.total_mem().unwrap_or(0) as f64 / 1e9;
        let (major, minor) = self.capability;
        format!(
            "{}, compute capability {major}.{minor}, {} multiprocessors, {gigabytes:.0} GB",
            self.name, self.multiprocessors
        )
    }

    /// Machine code of a kernel for this GPU, from the cache or compiled.
    fn compiled(&self, source: &Source) -> std::result::Result<Vec<u8>, Failure> {
        let architecture = format!("--gpu-architecture=sm_{}{}", self.capability.0, self.capability.1);
        let options =
            [architecture.as_str(), "--fmad=false", "--std=c++17", "-default-device", "--extra-device-vectorization"];
        let name = source.name(&options.join(" "));
        if let Some(kernel) = cache::find(&name) {
            return Ok(kernel);
        }
        let kernel = compile(&source.text, &options)?;
        cache::store(&name, &kernel);
        Ok(kernel)
    }
}

/// Compiles to machine code with NVRTC.
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

impl Device for CudaDevice {
    type Memory = CudaSlice<u8>;
    type Kernel = Kernel;
    type Stream = Arc<CudaStream>;
    /// The uploaded job records.
    type Launch = CudaSlice<u8>;
    const WORKSPACE_IN_GLOBAL_MEMORY: bool = false;

    fn shared_memory(&self) -> usize {
        self.shared_memory
    }

    fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    fn stream(&self) -> std::result::Result<Self::Stream, Failure> {
        self.context.new_stream().map_err(failed("opening a stream"))
    }

    fn kernel(&self, source: &Source) -> std::result::Result<Kernel, Failure> {
        let code = self.compiled(source)?;
        let module = self.context.load_module(Ptx::from_binary(code)).map_err(failed("loading a kernel"))?;
        let function = module.load_function(source.entry).map_err(failed("loading a kernel"))?;
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function.set_attribute(attribute, source.shared as i32).map_err(failed("requesting shared memory"))?;
        Ok(Kernel { function, blocks: source.blocks, threads: source.threads, shared: source.shared })
    }

    fn resident(&self, kernel: &Kernel) -> usize {
        let blocks =
            kernel.function.occupancy_max_active_blocks_per_multiprocessor(kernel.threads as u32, kernel.shared, None);
        blocks.map_or(1, |blocks| blocks as usize)
    }

    fn free_memory(&self) -> std::result::Result<usize, Failure> {
        let (free, _) = self.context.mem_get_info().map_err(failed("querying GPU memory"))?;
        Ok(free)
    }

    fn memory(
        &self,
        stream: &Self::Stream,
        content: &[u8],
        bytes: usize,
    ) -> std::result::Result<CudaSlice<u8>, Failure> {
        let bytes = bytes.max(content.len()).max(1);
        let mut memory = stream.alloc_zeros::<u8>(bytes).map_err(failed("allocating GPU memory"))?;
        self.write(stream, &mut memory, content)?;
        Ok(memory)
    }

    fn write(
        &self,
        stream: &Self::Stream,
        memory: &mut CudaSlice<u8>,
        content: &[u8],
    ) -> std::result::Result<(), Failure> {
        if !content.is_empty() {
            stream
                .memcpy_htod(content, &mut memory.slice_mut(..content.len()))
                .map_err(failed("copying to the GPU"))?;
        }
        // Other streams read it.
        stream.synchronize().map_err(failed("copying to the GPU"))
    }

    fn address(memory: &CudaSlice<u8>) -> u64 {
        memory.device_ptr(memory.stream()).0
    }

    fn read(
        &self,
        stream: &Self::Stream,
        memory: &CudaSlice<u8>,
        from: usize,
        bytes: &mut [u8],
    ) -> std::result::Result<(), Failure> {
        let part = memory.slice(from..from + bytes.len());
        stream.memcpy_dtoh(&part, bytes).map_err(failed("copying from the GPU"))?;
        stream.synchronize().map_err(failed("copying from the GPU"))
    }

    fn launch(
        &self,
        stream: &Self::Stream,
        kernel: &Kernel,
        jobs: &[JobRecord],
        epoch_records: &CudaSlice<u8>,
        epochs: usize,
    ) -> std::result::Result<CudaSlice<u8>, Failure> {
        let records = self.memory(stream, bytes(jobs), 0)?;
        let config = LaunchConfig {
            grid_dim: ((jobs.len() * kernel.blocks) as u32, 1, 1),
            block_dim: (kernel.threads as u32, 1, 1),
            shared_mem_bytes: kernel.shared as u32,
        };
        let epochs = epochs as i32;
        let mut launch = stream.launch_builder(&kernel.function);
        launch.arg(&records).arg(epoch_records).arg(&epochs);
        // SAFETY: the records have the kernel's layout, and point to memory that outlives the launch.
        let launched =
            unsafe { if kernel.blocks > 1 { launch.launch_cooperative(config) } else { launch.launch(config) } };
        launched.map_err(failed("launching a kernel"))?;
        Ok(records)
    }

    fn run(
        &self,
        stream: &Self::Stream,
        kernel: &Kernel,
        record: u64,
        blocks: usize,
    ) -> std::result::Result<(), Failure> {
        let config = LaunchConfig {
            grid_dim: (blocks as u32, 1, 1),
            block_dim: (kernel.threads as u32, 1, 1),
            shared_mem_bytes: kernel.shared as u32,
        };
        let mut launch = stream.launch_builder(&kernel.function);
        launch.arg(&record);
        // SAFETY: the record has the kernel's layout, and points to memory that outlives the launch.
        unsafe { launch.launch(config) }.map_err(failed("launching a kernel"))?;
        stream.synchronize().map_err(failed("running a kernel"))
    }

    fn wait(&self, stream: &Self::Stream, _: CudaSlice<u8>) -> std::result::Result<(), Failure> {
        stream.synchronize().map_err(failed("running a kernel"))
    }
}
