/** Whether a message of an engine or of the system says that memory, disk, processes or files ran out. */
export function isExhaustion(message: string): boolean {
  return /no space left|disk quota|cannot allocate memory|out of memory|resource temporarily unavailable|too many open files|pids? limit/i.test(
    message,
  )
}
