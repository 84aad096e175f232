import type { RecordedEnvironment } from '../guard-engine/ledger/recorded-environment.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Harmless, and commands may need them. Whatever else an agent sets could make a test runner pass. */
const kept = /^(?:LANG|LANGUAGE|LC_\w+|TERM|TZ|TMPDIR|USER|LOGNAME|SHELL|CI|NO_COLOR|FORCE_COLOR)$/

/**
 * What commands are run with. A person's own environment is theirs; beneath an agent programs are looked for where they were when
 * the session began, because an agent could put its own `npm` first.
 */
export function verificationEnv(
  env: Env,
  beneath: { readonly agent: boolean; readonly recorded: RecordedEnvironment | null },
): Env {
  if (!beneath.agent) return env
  const plain = Object.fromEntries(Object.entries(env).filter(([name]) => kept.test(name)))
  const { recorded } = beneath
  return {
    ...plain,
    PATH: recorded?.path ?? env.PATH,
    HOME: recorded?.home ?? env.HOME,
  }
}
