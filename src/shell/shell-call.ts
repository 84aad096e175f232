import type { Arg } from './shell-state.ts'

export const shells: ReadonlySet<string> = new Set(
  'sh bash dash zsh ksh ash mksh rbash fish csh tcsh'.split(' '),
)

/** The arguments of a shell: `bash -c TEXT`, `bash FILE`, `… | bash`. */
export function readShellCall(args: readonly Arg[]) {
  const startFiles: string[] = []
  let takesScript = false
  let readsInput = false
  let pipefail = false
  let plain = true
  let onlyReads = false
  let index = 0
  for (; index < args.length; index += 1) {
    const value = args[index]?.value ?? ''
    if (value === '--') {
      plain = false
      index += 1
      break
    }
    if (!/^[-+]./.test(value)) break
    if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(value)) takesScript = true
    if (/^-[a-zA-Z]*s[a-zA-Z]*$/.test(value)) readsInput = true
    if (/^-[euxv]*n[euxv]*$/.test(value)) onlyReads = true
    const option = /^[-+][a-zA-Z]*[oO]$/.test(value) ? (args[index + 1]?.value ?? '') : null
    const setsPipefail = option === 'pipefail' && /^-[euxl]*o$/.test(value)
    if (setsPipefail) pipefail = true
    plain &&= setsPipefail || /^-[euxl]*c?$/.test(value)
    if (option !== null) index += 1
    if (/^--(?:rcfile|init-file)$/.test(value)) {
      index += 1
      startFiles.push(args[index]?.value ?? '')
    }
  }
  const [first = null, ...after] = args.slice(index)
  const script = takesScript ? first : null
  const file = takesScript || readsInput ? null : first
  const rest = script === null && file === null ? args.slice(index) : after
  return {
    /** The text after `-c`. */
    script,
    /** The script file it runs. */
    file,
    /** Arguments for the script, the file or the commands on standard input. */
    rest,
    /** `sh -n FILE`: it runs nothing. */
    onlyReads: onlyReads && args.slice(0, index).every(({ value }) => /^-[euxvn]+$/.test(value)),
    /** Files that it runs first: `--rcfile FILE`. */
    startFiles,
    pipefail,
    /** It has only options that do not change what commands mean or how they end. */
    plain,
  }
}
