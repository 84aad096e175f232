import { join } from 'node:path'
import type { HookRegistration } from '../hook-codec.ts'
import { jsonHookInstaller } from '../hook-config/json-hook-installer.ts'
import { hookLine } from '../hook-config/shell-words.ts'
import type { HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'

export function cursorHooks(events: readonly HookRegistration[]): HookInstaller {
  return jsonHookInstaller(
    {
      agent: 'cursor',
      executables: ['cursor-agent', 'cursor'],
      projectMarks: ['.cursor', '.cursorrules'],
      proof: null,
      fileName: 'hooks.json',
      comments: true,
      skeleton: { version: 1 },
      scopes: ['project', 'user'],
      files,
      entryOf: ({ kind, matcher, timeoutSeconds, mustBlock }, command) => ({
        command: hookLine(command),
        ...(matcher !== undefined && { matcher }),
        timeout: timeoutSeconds,
        failClosed: mustBlock,
        // The guard has its own limit; Cursor's would end the gate without a verdict.
        ...((kind === 'stop' || kind === 'subagent_stop') && { loop_limit: null }),
      }),
      afterwards: [
        'The file contains paths of this machine: keep .cursor/hooks.json out of version control, or install with --scope user.',
        'Restart Cursor, and check in its settings under Hooks whether they are listed.',
      ],
    },
    events,
  )
}

function files(scope: HookScope, { root, home }: HookPlace): readonly string[] {
  const [project, user] = [join(root, '.cursor', 'hooks.json'), join(home, '.cursor', 'hooks.json')]
  return scope === 'user' ? [user, project] : [project, user]
}
