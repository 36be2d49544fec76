// SPDX-License-Identifier: Apache-2.0
// Names of real kernels of PyTorch, cuDNN, cuBLAS, Inductor, XLA, CuPy and NCCL, by kind of work.
#include "host/analysis/kernel_kind.hpp"

#include "support/catch.hpp"

#include <string_view>

namespace gpuprof::host {
namespace {

struct known_kernel {
  std::string_view name;
  kernel_kind kind;
  std::string_view does = {};
};

constexpr known_kernel kernels[] = {
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT", kernel_kind::product},
    {"void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1>",
     kernel_kind::product},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>", kernel_kind::product},
    {"std::enable_if<true, void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, "
     "cublasGemvParamsEx<int>>",
     kernel_kind::product},
    {"triton_tem_fused_mm_3", kernel_kind::product},
    {"sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64",
     kernel_kind::convolution},
    {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64>",
     kernel_kind::convolution},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64",
     kernel_kind::attention},
    {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>", kernel_kind::attention},
    {"void at::native::vectorized_elementwise_kernel<8, "
     "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >",
     kernel_kind::elementwise},
    {"void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::masked_fill_kernel"
     "(at::TensorIterator&, c10::Scalar const&)> >",
     kernel_kind::elementwise},
    {"triton_poi_fused_add_gelu_2", kernel_kind::elementwise},
    {"triton_poi_fused__to_copy__unsafe_view_clone_mul_transpose_view_20",
     kernel_kind::elementwise},
    {"triton_per_fused_add_native_dropout_native_layer_norm_view_8", kernel_kind::reduction},
    {"void (anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4, "
     "bool>(at::PhiloxCudaState)",
     kernel_kind::elementwise},
    {"void elemWiseRNNcell<float, float, float, (cudnnRNNMode_t)2>", kernel_kind::elementwise},
    {"loop_add_multiply_fusion", kernel_kind::elementwise},
    {"cupy_multiply__float32_float_float32", kernel_kind::elementwise},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::MeanOps<float, float, float, float> > >",
     kernel_kind::reduction},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
     "false>",
     kernel_kind::reduction},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, false, false>",
     kernel_kind::reduction},
    {"triton_red_fused_native_layer_norm_4", kernel_kind::reduction},
    {"input_reduce_fusion", kernel_kind::reduction},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
     "namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>",
     kernel_kind::moves, "concatenates tensors"},
    {"void at::native::vectorized_elementwise_kernel<8, "
     "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}>",
     kernel_kind::moves, "converts types"},
    {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
     "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)> >",
     kernel_kind::moves, "changes the layout of tensors"},
    {"void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float, false, true>",
     kernel_kind::moves, "changes the layout of tensors"},
    {"void at::native::(anonymous namespace)::indexSelectSmallIndex<c10::BFloat16, long>",
     kernel_kind::moves, "looks up rows of a table"},
    {"triton_poi_fused_cat_3", kernel_kind::moves, "concatenates tensors"},
    {"triton_poi_fused__to_copy_1", kernel_kind::moves, "copies tensors"},
    {"loop_convert_fusion", kernel_kind::moves, "converts types"},
    {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
     "4, at::native::templates::cuda::normal_and_transform<float> >",
     kernel_kind::random},
    {"void at_cuda_detail::cub::detail::radix_sort::DeviceSegmentedRadixSortKernel<float, long>",
     kernel_kind::sort, "sorts"},
    {"void at::native::mbtopk::gatherTopK<float, unsigned int, 2>", kernel_kind::sort,
     "selects elements"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::FusedOptimizerTensorListMetadata<4> >",
     kernel_kind::optimizer},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     kernel_kind::communication},
    {"void at::native::(anonymous namespace)::gatherKthValue<float, int, 1>", kernel_kind::sort,
     "selects elements"},
    {"void gesvdbj_batch_32x16<float, float>(long, int const*)", kernel_kind::factorization},
    {"void potrf_alg2_syrk_kernel<float, true, false, 5, 5, 3, 4, 4>", kernel_kind::factorization},
    {"void (anonymous namespace)::lasr_RVF_kernel_v3<float, float, 16, 32>(int, int)",
     kernel_kind::factorization},
    {"void regular_fft_factor<2048u, EPT<16u>, 4u, 0u>", kernel_kind::fft},
    {"void fft2d_r2c_32x32<float, false, 1u, false>", kernel_kind::convolution},
    {"void cusparse::csrmv_v3_kernel<std::integral_constant<bool, false>, int>",
     kernel_kind::product},
    {"void split_embedding_codegen_forward_unweighted_kernel<c10::Half, float>(float*, "
     "fbgemm_gpu::FixedDivisor)",
     kernel_kind::moves, "looks up rows of a table"},
    {"void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel<float, 5ul>("
     "at::PhiloxCudaState)",
     kernel_kind::optimizer},
    {"void fbgemm_gpu::permute_2D_data_kernel<false, int, int>(int, int)", kernel_kind::moves,
     "changes the layout of tensors"},
    {"triton_mm", kernel_kind::tuning},
    {"stream_executor::gpu::RedzoneAllocatorKernelImpl(unsigned char*, unsigned char)",
     kernel_kind::tuning},
    {"triton_softmax_2", kernel_kind::reduction},
    {"triton_my_own", kernel_kind::other},
    {"my_solver_step(float*, int)", kernel_kind::other},
};

TEST_CASE("the kind of a kernel's work is told by its name") {
  for (auto const& known : kernels) {
    CAPTURE(known.name);
    auto const told = work_of(known.name);
    CHECK(name_of(told.kind) == name_of(known.kind));
    if (!known.does.empty()) CHECK(told.does == known.does);
  }
}

TEST_CASE("a kernel on doubles is told from one with a scalar of that type") {
  CHECK(work_of("void at::native::vectorized_elementwise_kernel<2, at::native::CUDAFunctor_add"
                "<double>, std::array<char*, 3ul> >")
            .is_fp64);
  CHECK_FALSE(work_of("void at::native::vectorized_elementwise_kernel<4, at::native::pow_kernel"
                      "<float, double>(at::TensorIteratorBase&, double)>")
                  .is_fp64);
}

TEST_CASE("a scatter that adds is told from one that writes") {
  CHECK(work_of("void at::native::_scatter_gather_elementwise_kernel<128, 8, "
                "at::native::_cuda_scatter_gather_internal_kernel<true, float, long>::operator()"
                "<at::native::ReduceAdd> >")
            .adds_by_atomics);
  CHECK_FALSE(work_of("void at::native::_scatter_gather_elementwise_kernel<128, 8, "
                      "at::native::_cuda_scatter_gather_internal_kernel<false, float, long>::"
                      "operator()<at::native::TensorAssign> >")
                  .adds_by_atomics);
}

TEST_CASE("the code tells the kind of a kernel whose name says nothing") {
  using enum instruction_class;
  auto const kind_with = [](instruction_set holds, std::string_view name = "my_kernel") {
    kernel_code const code{90, holds, true};
    return work_of(name, &code).kind;
  };
  CHECK(kind_with({}) == kernel_kind::moves);
  CHECK(kind_with(barrier) == kernel_kind::moves);  // a transpose through shared memory
  CHECK(kind_with(float_other) == kernel_kind::arithmetic);
  CHECK(kind_with(instruction_set(fp32)) == kernel_kind::arithmetic);
  CHECK(kind_with(fp32 | barrier) == kernel_kind::arithmetic);
  CHECK(kind_with(fp32 | shuffle) == kernel_kind::reduction);
  CHECK(kind_with((fp32 | shuffle) | wgmma_bf16) == kernel_kind::product);
  CHECK(kind_with(instruction_set(add_in_memory)) == kernel_kind::moves);  // a scatter
  // A radix sort.
  CHECK(kind_with(instruction_set(shuffle)) == kernel_kind::other);
  // A name that says something is believed.
  CHECK(kind_with(fp32 | shuffle, "loop_add_fusion") == kernel_kind::elementwise);
}

TEST_CASE("code that was not looked through for it tells no kind") {
  using enum instruction_class;
  CHECK(work_of("my_kernel", nullptr).kind == kernel_kind::other);
  kernel_code code{90, fp32, true};
  CHECK(work_of("my_kernel", &code).kind == kernel_kind::arithmetic);
  auto record = record_of(name_id{1}, code);
  CHECK(code_of(record) == code);
  record.instructions &= ~instruction_set(told_kinds).bits();  // as captures before 1.6
  auto const old = code_of(record);
  CHECK(work_of("my_kernel", &old).kind == kernel_kind::other);
  code.is_complete = false;
  CHECK(work_of("my_kernel", &code).kind == kernel_kind::other);
}

}  // namespace
}  // namespace gpuprof::host
