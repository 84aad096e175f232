import { join } from 'node:path'
import type { HookRegistration } from '../hook-codec.ts'
import { jsonHookInstaller } from '../hook-config/json-hook-installer.ts'
import { blockingLine, shellWords } from '../hook-config/shell-words.ts'
import type { HookFileText, HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'

const trust =
  'Start `codex`, open /hooks and trust the hooks of this file: until then Codex does not run them, and does not say so.'

/** Codex refuses a file with a field it does not know, so our entries carry no mark. */
export function codexHooks(events: readonly HookRegistration[]): HookInstaller {
  const installer = jsonHookInstaller(
    {
      agent: 'codex',
      executables: ['codex'],
      projectMarks: ['.codex'],
      proof: {
        config: { trust_hooks: true },
        compaction: {
          kind: 'full_context',
          config: { config: { model_auto_compact_token_limit: 50_000 } },
          inputTokens: 200_000,
        },
      },
      fileName: 'hooks.json',
      comments: false,
      skeleton: {},
      scopes: ['project', 'user'],
      files,
      entryOf: ({ kind, matcher, timeoutSeconds }, { program, args }) => ({
        ...(matcher !== undefined && { matcher }),
        hooks: [
          {
            type: 'command',
            command: (kind === 'tool_before' ? blockingLine : shellWords)([program, ...args]),
            timeout: timeoutSeconds,
          },
        ],
      }),
      disabledBy: () => null,
      switchedOff,
      afterwards: [
        trust,
        'Trust goes with the text of the hook: after every change of it, also by an upgrade of Gantry, trust it again.',
        'Hooks of a project run only in a project that Codex trusts.',
      ],
    },
    events,
  )
  return { ...installer, needsTrust: trust }
}

function files(scope: HookScope, { root, home, env }: HookPlace): readonly string[] {
  const codexHome = env.CODEX_HOME || join(home, '.codex')
  const [project, user] = [join(root, '.codex'), codexHome]
  const [own, other] = scope === 'user' ? [user, project] : [project, user]
  return [own, other].flatMap((directory) => [join(directory, 'hooks.json'), join(directory, 'config.toml')])
}

/** `hooks = false` or `codex_hooks = false` below `[features]`. */
function switchedOff(given: readonly HookFileText[]): string | null {
  const off = given.find(({ path, text }) => {
    if (!path.endsWith('config.toml') || text === null) return false
    const features = /^\s*\[\s*features\s*\]\s*$([\s\S]*?)(?=^\s*\[|$(?![\s\S]))/m.exec(text)?.[1] ?? ''
    return (
      /^\s*(?:codex_)?hooks\s*=\s*false\b/m.test(features) ||
      /^\s*features\.(?:codex_)?hooks\s*=\s*false\b/m.test(text)
    )
  })
  return off === undefined ? null : `hooks are switched off below [features] in ${off.path}`
}
