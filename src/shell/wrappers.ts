import { packageWrappers } from './package-wrappers.ts'
import { processWrappers } from './process-wrappers.ts'
import { readWrapper, readWrapperWords, type WrapperOptions } from './read-wrapper.ts'
import type { Arg } from './shell-state.ts'
import { systemWrappers } from './system-wrappers.ts'
import type { Unwrapped, Wrapper } from './wrapper.ts'

let table: Readonly<Record<string, Wrapper>> | undefined

/** Made when it is first needed: most hooks run no wrapper. */
function wrapperOf(name: string): Wrapper | undefined {
  table ??= describeWrappers()
  return Object.hasOwn(table, name) ? table[name] : undefined
}

export function isWrapper(name: string): boolean {
  return wrapperOf(name) !== undefined
}

/** Takes one layer off a command, in its most likely reading. Empty when the wrapper runs nothing; null when the command is not a wrapper. */
export function unwrap(name: string, args: readonly Arg[]): readonly Unwrapped[] | null {
  const readings = unwrapEveryReading(name, args)
  return readings === null ? null : (readings.find(({ length }) => length > 0) ?? [])
}

/** All readings of a command, the most likely one first. There are several when it has an unknown option, which may have a value. */
export function unwrapEveryReading(
  name: string,
  args: readonly Arg[],
): readonly (readonly Unwrapped[])[] | null {
  const wrapper = wrapperOf(name)
  if (wrapper === undefined) return null
  if (wrapper.describes?.test(args[0]?.value ?? '')) return [[]]
  const readings = callsOf(args, wrapper.separator).flatMap((call) => readWrapper(wrapper, call))
  return readings.length === 0 ? null : readings
}

/** Every way in which a wrapper, such as `xargs`, may read the words before the command, the most likely one first. */
export function readWrapperOptions(name: string, args: readonly Arg[]): readonly WrapperOptions[] {
  const options = wrapperOf(name)?.options ?? ''
  return readWrapperWords({ options }, args)
}

/** `tmux new -d \; send-keys …`: several calls in one. */
function callsOf(args: readonly Arg[], separator: string | undefined): readonly (readonly Arg[])[] {
  if (separator === undefined) return [args]
  const calls: Arg[][] = [[]]
  for (const arg of args)
    if (arg.value === separator) calls.push([])
    else calls.at(-1)?.push(arg)
  return calls
}

/** Every command that runs another command given in its words. The only list of them. */
export function describeWrappers(): Readonly<Record<string, Wrapper>> {
  return { ...systemWrappers(), ...processWrappers(), ...packageWrappers(), ...secretWrappers() }
}

/** Programs that fetch secrets or settings for a command. */
function secretWrappers(): Readonly<Record<string, Wrapper>> {
  return {
    op: {
      options: '--account: --config: --session:',
      subcommands: { run: { options: '--env-file: --no-masking --environment:' } },
    },
    doppler: {
      options: '-t,--token: --config-dir: --scope: --silent',
      subcommands: {
        run: {
          options:
            '-p,--project: -c,--config: --command! --mount: --fallback: --preserve-env? --name-transformer: --watch',
        },
      },
    },
    'aws-vault': {
      options: '--debug --backend: --keychain: --prompt:',
      subcommands: {
        exec: {
          options: '-d,--duration: -n,--no-session --region: -t,--mfa-token: -j,--json -s,--server --lazy',
          operands: 1,
          permutes: true,
        },
      },
    },
    chamber: {
      options: '-b,--backend: -r,--retries: -v,--verbose',
      subcommands: { exec: { options: '--strict --pristine --strict-value:', afterDashes: true } },
    },
    infisical: {
      subcommands: {
        run: { options: '--env: --path: --projectId: --command! --watch --token: --recursive' },
      },
    },
  }
}
