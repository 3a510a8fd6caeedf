/* Register save and restore routines for -msave-restore, called at the start and end of a
   function. Registers are saved in steps of four. The return address of a save is in t0; a
   restore returns to the function's caller. Files built for size use them (firmware/build). */
    .cfi_sections .debug_frame
    .text

    .macro entry names:vararg
    .irp name, \names
    .globl \name
    .type \name, @function
\name:
    .endr
    .endm

    entry __riscv_save_12
    addi sp, sp, -64
    li t1, 0
    sw s11, 12(sp)
    j 1f
    entry __riscv_save_11, __riscv_save_10, __riscv_save_9, __riscv_save_8
    addi sp, sp, -64
    li t1, -16
1:  sw s10, 16(sp)
    sw s9, 20(sp)
    sw s8, 24(sp)
    sw s7, 28(sp)
    j 2f
    entry __riscv_save_7, __riscv_save_6, __riscv_save_5, __riscv_save_4
    addi sp, sp, -64
    li t1, -32
2:  sw s6, 32(sp)
    sw s5, 36(sp)
    sw s4, 40(sp)
    sw s3, 44(sp)
    sw s2, 48(sp)
    sw s1, 52(sp)
    sw s0, 56(sp)
    sw ra, 60(sp)
    sub sp, sp, t1
    jr t0
    entry __riscv_save_3, __riscv_save_2, __riscv_save_1, __riscv_save_0
    addi sp, sp, -16
    sw s2, 0(sp)
    sw s1, 4(sp)
    sw s0, 8(sp)
    sw ra, 12(sp)
    jr t0

    entry __riscv_restore_12
    lw s11, 12(sp)
    addi sp, sp, 16
    entry __riscv_restore_11, __riscv_restore_10, __riscv_restore_9, __riscv_restore_8
    lw s10, 0(sp)
    lw s9, 4(sp)
    lw s8, 8(sp)
    lw s7, 12(sp)
    addi sp, sp, 16
    entry __riscv_restore_7, __riscv_restore_6, __riscv_restore_5, __riscv_restore_4
    lw s6, 0(sp)
    lw s5, 4(sp)
    lw s4, 8(sp)
    lw s3, 12(sp)
    addi sp, sp, 16
    entry __riscv_restore_3, __riscv_restore_2, __riscv_restore_1, __riscv_restore_0
    lw s2, 0(sp)
    lw s1, 4(sp)
    lw s0, 8(sp)
    lw ra, 12(sp)
    addi sp, sp, 16
    ret
