import { refusedCalls, type SyscallName, unknownCalls } from './syscalls.ts'

/** How a system call is restricted. `with`: ENOSYS for calls that programs can replace. */
export type SyscallRule =
  | { readonly kind: 'never'; readonly call: SyscallName; readonly with: 'EPERM' | 'ENOSYS' }
  | {
      readonly kind: 'not_with_bits'
      readonly call: SyscallName
      readonly argument: number
      readonly bits: number
    }
  | {
      readonly kind: 'not_with_values'
      readonly call: SyscallName
      readonly argument: number
      readonly values: readonly number[]
    }
  | {
      readonly kind: 'not_created_with_bits'
      readonly call: SyscallName
      readonly flags: number
      readonly mode: number
      readonly bits: number
    }

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const newNamespaces =
  0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000
const setuidOrSetgid = 0o6000
/** AF_ALG is the kernel's cryptography; AF_VSOCK reaches the virtual machine host, past every network namespace. */
const families = [38, 40]
/** TIOCSTI and TIOCLINUX inject input into the terminal. */
const terminalRequests = [0x5412, 0x541c]
/**
 * PTRACE_ATTACH and PTRACE_SEIZE: with them a process could make the shell of its step exit with 0. A program can still
 * trace those that it starts and that ask for it, as debuggers do.
 */
const attachRequests = [16, 0x4206]

export const rules: readonly SyscallRule[] = [
  ...namesOf(refusedCalls).map((call) => ({ kind: 'never', call, with: 'EPERM' }) as const),
  ...namesOf(unknownCalls).map((call) => ({ kind: 'never', call, with: 'ENOSYS' }) as const),
  { kind: 'not_with_bits', call: 'clone', argument: 0, bits: newNamespaces },
  { kind: 'not_with_values', call: 'socket', argument: 0, values: families },
  { kind: 'not_with_values', call: 'ioctl', argument: 1, values: terminalRequests },
  { kind: 'not_with_values', call: 'ptrace', argument: 0, values: attachRequests },
  { kind: 'not_with_bits', call: 'chmod', argument: 1, bits: setuidOrSetgid },
  { kind: 'not_with_bits', call: 'fchmod', argument: 1, bits: setuidOrSetgid },
  { kind: 'not_with_bits', call: 'fchmodat', argument: 2, bits: setuidOrSetgid },
  { kind: 'not_with_bits', call: 'fchmodat2', argument: 2, bits: setuidOrSetgid },
  { kind: 'not_with_bits', call: 'mknod', argument: 1, bits: setuidOrSetgid },
  { kind: 'not_with_bits', call: 'mknodat', argument: 2, bits: setuidOrSetgid },
  { kind: 'not_with_bits', call: 'creat', argument: 1, bits: setuidOrSetgid },
  { kind: 'not_created_with_bits', call: 'open', flags: 1, mode: 2, bits: setuidOrSetgid },
  { kind: 'not_created_with_bits', call: 'openat', flags: 2, mode: 3, bits: setuidOrSetgid },
]

function namesOf(calls: Partial<Record<SyscallName, unknown>>): SyscallName[] {
  return Object.keys(calls) as SyscallName[]
}
