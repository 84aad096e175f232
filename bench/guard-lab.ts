import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { buildHook } from '../scripts/build-hook.ts'
import { version } from '../src/core/version.ts'
import { socketPath } from '../src/guard/hook/resident/resident-at.ts'

/** A project with a guard over it, and the program of the hooks as it is published. */
export interface GuardLab {
  readonly root: string
  readonly env: Record<string, string> & { readonly GANTRY_GUARD_HOME: string }
  /** Throws when the hook does not let the agent go on. Returns what it answered. */
  hook(event: string, payload: string): string
  payload(event: string, more: object): string
  socket(): string
}

export async function openLab(directory: string, more: Record<string, string>): Promise<GuardLab> {
  const root = join(directory, 'project')
  const hookBin = join(directory, 'hook', 'hook-bin.js')
  mkdirSync(root, { recursive: true })
  await buildHook(hookBin)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    GANTRY_GUARD_HOME: join(directory, 'guard'),
    CLAUDE_PROJECT_DIR: root,
    ...more,
  }
  return {
    root,
    env,
    hook: (event, input) => {
      const args = [hookBin, '--agent', 'claude-code', event]
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, input, encoding: 'utf8' })
      if (status !== 0) throw new Error(`the hook ended with ${status}: ${stderr}`)
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
    socket: () => {
      const { size, mtimeMs } = statSync(hookBin)
      const uid = process.getuid?.() ?? null
      const edition = `${version}-${size}-${mtimeMs}`
      const path = socketPath({ guardHome: env.GANTRY_GUARD_HOME, edition, env, uid })
      if (path === null) throw new Error('there is no place for a socket')
      return path
    },
  }
}

/** What every hook pays for Node itself. */
export function bareNode(env: Record<string, string>): void {
  spawnSync(process.execPath, ['-e', '0'], { env, input: '' })
}
