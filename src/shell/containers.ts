import { absolutePath } from './absolute-path.ts'
import { readOptions } from './options.ts'
import { shells } from './shell-call.ts'
import { type Arg, argOf, type ProgramCall } from './shell-state.ts'
import { isKnown } from './unknown-part.ts'

interface Mount {
  readonly from: string
  readonly to: string
}

/** `docker run`: a container can change the host in mounted directories. */
export function runInContainer(invocation: ProgramCall): void {
  const { args, state, shell, name } = invocation
  const [verb, ...rest] = args
  if (verb?.value === 'cp') {
    const [, target] = readOptions(rest).operands
    if (target !== undefined && !/^[^/.][^/]*:/.test(target.value))
      shell.write(target, `${name} cp writes it`, state)
    return
  }
  const mounts = mountsOf(args).map(({ from, to }) => ({ from: absolutePath(from, state.cwd), to }))
  const command = commandOf(rest)
  if (mounts.length > 0 && command.length > 0) {
    const inside = workdirOf(args)
    const cwd = inside === undefined ? null : here(inside, mounts)
    shell.run(
      command.map(({ value, text }) => ({ value: outside(value, mounts), text })),
      { ...state, cwd: cwd !== null && isKnown(cwd) && cwd.startsWith('/') ? cwd : null },
    )
    return
  }
  // For compose and exec the mounts are defined elsewhere.
  const at = args.findIndex(
    ({ value }, index) =>
      shells.has(value.replace(/^.*\//, '')) && /^-\w*c$/.test(args[index + 1]?.value ?? ''),
  )
  const script = args[at + 2]
  if (/^(?:compose|exec)$/.test(verb?.value ?? '') && at !== -1 && script !== undefined)
    shell.script(script.value, { ...state, cwd: null })
}

function mountsOf(args: readonly Arg[]): readonly Mount[] {
  return args.flatMap(({ value }, index): Mount[] => {
    const attached = /^(?:-v|--volume=|--mount=)(.+)$/.exec(value)?.[1]
    const given = attached ?? (/^(?:-v|--volume|--mount)$/.test(value) ? args[index + 1]?.value : undefined)
    if (given === undefined) return []
    const named = /(?:^|,)(?:src|source)=([^,]+)/.exec(given)?.[1]
    const target = /(?:^|,)(?:dst|destination|target)=([^,]+)/.exec(given)?.[1]
    if (named !== undefined && target !== undefined) return [{ from: named, to: target }]
    const [from = '', to = ''] = given.split(':')
    return /^[/.~\0]/.test(from) && to.startsWith('/') ? [{ from, to: to.replace(/(?<=.)\/$/, '') }] : []
  })
}

function workdirOf(args: readonly Arg[]): string | undefined {
  const at = args.findIndex(({ value }) => /^(?:-w|--workdir)$/.test(value))
  if (at !== -1) return args[at + 1]?.value
  return args
    .map(({ value }) => /^(?:-w|--workdir=)(.+)$/.exec(value)?.[1])
    .find((value) => value !== undefined)
}

/** The command after the image. */
function commandOf(args: readonly Arg[]): readonly Arg[] {
  const entry = args.findIndex(({ value }) => value === '--entrypoint')
  const program =
    args[entry + 1] !== undefined && entry !== -1
      ? args[entry + 1]
      : args.map(({ value }) => /^--entrypoint=(.+)$/.exec(value)?.[1]).find((value) => value !== undefined)
  const first = program === undefined ? [] : [typeof program === 'string' ? argOf(program) : program]
  let index = 0
  while (/^-/.test(args[index]?.value ?? ''))
    index += alone.test(args[index]?.value ?? '') || (args[index]?.value ?? '').includes('=') ? 1 : 2
  return [...first, ...args.slice(index + 1)]
}

/** Options without a value, or with it attached. */
const alone =
  /^(?:-[itdP]+|-[vwepu].+|--(?:rm|init|interactive|tty|detach|privileged|read-only|publish-all|no-healthcheck|oom-kill-disable|sig-proxy|quiet|no-deps))$/

function here(path: string, mounts: readonly Mount[]): string | null {
  const mount = mounts.find(({ to }) => path === to || path.startsWith(`${to}/`))
  return mount === undefined ? null : `${mount.from}${path.slice(mount.to.length)}`
}

/** A word with its paths translated to the host. */
function outside(word: string, mounts: readonly Mount[]): string {
  return mounts.reduce((text, { from, to }) => {
    if (to.length < 2) return text
    const path = RegExp.escape(to)
    return text.replaceAll(new RegExp(`(?<![\\w./-])${path}(?=/|$|[\\s'";|&)])`, 'g'), () => from)
  }, word)
}
