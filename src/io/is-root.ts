/** Some programs refuse to work without a check when they are started by root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}
