export type SeccompArch = 'x64' | 'arm64'

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64: calls in another convention have other numbers. */
export const auditArch: Readonly<Record<SeccompArch, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 }

/** The numbers of a call. arm64 does not have some older ones; newer numbers are the same on every processor. */
type Numbers = readonly [x64: number, arm64?: number]

/** Calls that no step may make. */
export const refusedCalls = {
  // Takes an open file of another process, such as the one by which process 1 reports how the step ended.
  pidfd_getfd: [438, 438],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  unshare: [272, 97],
  setns: [308, 268],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  fanotify_init: [300, 262],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  vhangup: [153, 58],
  iopl: [172],
  ioperm: [173],
  process_vm_writev: [311, 271],
} as const satisfies Readonly<Record<string, Numbers>>

/** Newer calls that programs can replace by older ones, or whose arguments a filter cannot see. */
export const unknownCalls = {
  clone3: [435, 435],
  openat2: [437, 437],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
} as const satisfies Readonly<Record<string, Numbers>>

/** Calls that are refused with some arguments. */
const limitedCalls = {
  open: [2],
  ioctl: [16, 29],
  socket: [41, 198],
  clone: [56, 220],
  creat: [85],
  chmod: [90],
  fchmod: [91, 52],
  ptrace: [101, 117],
  mknod: [133],
  openat: [257, 56],
  mknodat: [259, 33],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
} as const satisfies Readonly<Record<string, Numbers>>

const calls = { ...refusedCalls, ...unknownCalls, ...limitedCalls }

export type SyscallName = keyof typeof calls

export const syscallNumbers: Readonly<Record<SeccompArch, Partial<Record<SyscallName, number>>>> = {
  x64: numbersAt(0),
  arm64: numbersAt(1),
}

function numbersAt(index: 0 | 1): Partial<Record<SyscallName, number>> {
  const all: [string, Numbers][] = Object.entries(calls)
  return Object.fromEntries(
    all.flatMap(([name, { [index]: number }]) => (number === undefined ? [] : [[name, number]])),
  )
}
