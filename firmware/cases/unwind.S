/* Code with call frame information of all kinds, valid and invalid, for symbols/tests/unwind.rs.
   Labels of the form FUNCTION_after mark the return address of a call of FUNCTION. The code
   itself is irrelevant. */
    .option norelax
#ifdef IN_EH_FRAME
    .cfi_sections .eh_frame
#else
    .cfi_sections .debug_frame
#endif

    .macro function name
    .globl \name
    .type \name, @function
\name:
    .endm
    .macro end name
    .size \name, . - \name
    .endm
    .macro calls name
    jal ra, leaf
    .globl \name\()_after
\name\()_after:
    nop
    .endm

    .text
/* Execution starts here; the return address is undefined. */
    function start
    .cfi_startproc
    calls start
    .cfi_endproc
    end start

    function outermost
    .cfi_startproc
    .cfi_undefined ra
    calls outermost
    .cfi_endproc
    end outermost

    function leaf
    .cfi_startproc
    nop
    ret
    .cfi_endproc
    end leaf

    function framed
    .cfi_startproc
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    sw ra, 12(sp)
    sw s0, 8(sp)
    .cfi_offset ra, -4
    .cfi_offset s0, -8
    calls framed
    .cfi_remember_state
    lw ra, 12(sp)
    .cfi_restore ra
    lw s0, 8(sp)
    .cfi_restore s0
    addi sp, sp, 16
    .cfi_def_cfa_offset 0
    .globl framed_ret
framed_ret:
    ret
    .cfi_restore_state
    .globl framed_again
framed_again:
    nop
    .cfi_endproc
    end framed

/* A stack frame of its own size, found through s0. */
    function by_s0
    .cfi_startproc
    .cfi_def_cfa s0, 0
    .cfi_offset ra, -4
    calls by_s0
    .cfi_endproc
    end by_s0

/* Uses s0 and does not save it. */
    function loses_s0
    .cfi_startproc
    .cfi_def_cfa_offset 16
    .cfi_offset ra, -4
    .cfi_undefined s0
    calls loses_s0
    .cfi_endproc
    end loses_s0

/* Makes no call and has no return address. */
    function not_saved
    .cfi_startproc
    calls not_saved
    .cfi_endproc
    end not_saved

    function no_information
    calls no_information
    end no_information

/* As GCC's register save routines: called through t0. */
    function millicode
    .cfi_startproc
    .cfi_return_column t0
    nop
    .cfi_endproc
    end millicode

/* Keeps its return address in s1 during calls through ra. */
    function moved
    .cfi_startproc
    .cfi_register ra, s1
    calls moved
    .cfi_endproc
    end moved

/* Frame address: the word at sp + 8 (DW_OP_breg2 8, deref). Return address: at the frame address
   minus 12 (lit12, minus). s0: the frame address plus 3 (plus_uconst 3). */
    function expressions
    .cfi_startproc
    .cfi_escape 0x0f, 3, 0x72, 8, 0x06
    .cfi_escape 0x10, 1, 2, 0x3c, 0x1c
    .cfi_escape 0x16, 8, 2, 0x23, 3
    calls expressions
    .cfi_endproc
    end expressions

/* DW_OP_skip back to itself. */
    function endless
    .cfi_startproc
    .cfi_escape 0x0f, 3, 0x2f, 0xfd, 0xff
    nop
    .cfi_endproc
    end endless

/* DW_OP_call_frame_cfa, which would need the address that it computes. */
    function circular
    .cfi_startproc
    .cfi_escape 0x0f, 1, 0x9c
    nop
    .cfi_endproc
    end circular

/* An invalid instruction; in .eh_frame the linker would reject it. */
    function nonsense
    .cfi_startproc
#ifndef IN_EH_FRAME
    .cfi_escape 0x3f
#endif
    nop
    .cfi_endproc
    end nonsense

    function unbalanced
    .cfi_startproc
    .cfi_escape 0x0b
    nop
    .cfi_endproc
    end unbalanced

/* More bytes than any function needs. */
    function huge
    .cfi_startproc
    .rept 8200
    .cfi_escape 0x2e, 0
    .endr
    nop
    .cfi_endproc
    end huge

/* A trap's frame: the interrupted code had not made a call. */
    function trap
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa_offset 16
    .cfi_offset ra, -4
    nop
    .cfi_endproc
    end trap

/* The second half of `framed`, elsewhere, as compilers place unlikely code. */
    function framed_cold
    .cfi_startproc
    .cfi_def_cfa_offset 16
    .cfi_offset ra, -4
    .cfi_offset s0, -8
    calls framed_cold
    .cfi_endproc
    end framed_cold

/* The last instruction is the call: it returns into the next function, which must not be taken
   for it. */
    function ends_with_call
    .cfi_startproc
    .cfi_def_cfa_offset 32
    .cfi_offset ra, -4
    jal ra, leaf
    .cfi_endproc
    end ends_with_call

    function follows
    .globl ends_with_call_after
ends_with_call_after:
    nop
    end follows
