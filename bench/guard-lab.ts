import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { hookLauncher, writeLauncher } from '../src/guard-install/hook-launcher.ts'
import { lockHolder } from '../src/io/lock.ts'

/** A guarded project, and the hook program as it is published. */
export interface GuardLab {
  readonly root: string
  readonly env: Record<string, string> & { readonly GANTRY_GUARD_HOME: string }
  /** Starts what the agent starts, and returns its answer. Throws when the hook denies, except for a stop. */
  hook(event: string, payload: string): string
  payload(event: string, more: object): string
  /** Process id of the helper; null before it can be asked. */
  helper(): number | null
}

export function openLab(directory: string, more: Record<string, string>): GuardLab {
  const root = join(directory, 'project')
  const hookBin = join(directory, 'hook', 'hook-bin.js')
  mkdirSync(root, { recursive: true })
  // In a process of its own: the bundler would make this one large, and a large process takes longer to start others.
  execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/build-hook.ts'), hookBin])
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    GANTRY_GUARD_HOME: join(directory, 'guard'),
    CLAUDE_PROJECT_DIR: root,
    ...more,
  }
  const launcher = hookLauncher('claude-code', { node: process.execPath, hookBin }, env)
  if (launcher === null) throw new Error('no launcher on this system')
  writeLauncher(launcher)
  return {
    root,
    env,
    hook: (event, input) => {
      const { status, stdout, stderr } = spawnSync(launcher.path, [event], { env, input, encoding: 'utf8' })
      if (status !== 0 && event !== 'Stop') throw new Error(`the hook ended with ${status}: ${stderr}`)
      return stdout
    },
    payload: (event, fields) =>
      JSON.stringify({
        session_id: 's1',
        transcript_path: join(directory, 't.jsonl'),
        cwd: root,
        permission_mode: 'default',
        hook_event_name: event,
        ...fields,
      }),
    helper: () => {
      const run = join(env.GANTRY_GUARD_HOME, 'run')
      const names = existsSync(run) ? readdirSync(run) : []
      const name = names.find((one) => names.includes(`${one}.sock`))
      return name === undefined ? null : (lockHolder(join(run, `${name}.sock.lock`))?.pid ?? null)
    },
  }
}

/** The start of Node itself, which every hook needs. */
export function bareNode(env: Record<string, string>): void {
  spawnSync(process.execPath, ['-e', '0'], { env, input: '' })
}
