import { join } from 'node:path'
import type { HookRegistration } from '../hook-codec.ts'
import { jsonHookInstaller } from '../hook-config/json-hook-installer.ts'
import { blockingLine, onlyWhere, shellWords } from '../hook-config/shell-words.ts'
import type { AgentSandbox, HookFileText, HookInstaller, HookPlace, HookScope } from '../hook-installer.ts'
import { tomlSetting } from './toml.ts'

const trust =
  'Start `codex`, open /hooks and trust the hooks of this file: until then Codex silently skips them.'

/** Codex refuses a file with an unknown field, so our entries have no mark. */
export function codexHooks(events: readonly HookRegistration[]): HookInstaller {
  const installer = jsonHookInstaller(
    {
      agent: 'codex',
      executables: ['codex'],
      projectMarks: ['.codex'],
      proof: {
        config: { trust_hooks: true },
        sandboxed: { sandbox: 'default' },
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
      entryOf: ({ kind, matcher, timeoutSeconds }, { program, args, onlyIf }) => ({
        ...(matcher !== undefined && { matcher }),
        hooks: [
          {
            type: 'command',
            command: onlyWhere(
              onlyIf,
              (kind === 'tool_before' ? blockingLine : shellWords)([program, ...args]),
            ),
            timeout: timeoutSeconds,
          },
        ],
      }),
      switchedOff,
      afterwards: [
        trust,
        'Trust depends on the text of the hook: after every change, also by an upgrade of Gantry, trust it again.',
        'Hooks of a project run only in a project that Codex trusts.',
      ],
    },
    events,
  )
  return { ...installer, needsTrust: trust, sandbox: codexSandbox }
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
    const features = /^[ \t]*\[\s*features\s*\]\s*$([\s\S]*?)(?=^[ \t]*\[|$(?![\s\S]))/m.exec(text)?.[1] ?? ''
    return (
      /^[ \t]*(?:codex_)?hooks\s*=\s*false\b/m.test(features) ||
      /^[ \t]*features\.(?:codex_)?hooks\s*=\s*false\b/m.test(text)
    )
  })
  return off === undefined ? null : `hooks are switched off below [features] in ${off.path}`
}

const profile = 'gantry-guard'
const mark = '# Gantry guard: protected files are read-only for commands'

/**
 * A permission profile of Codex: what a trusted project gets anyway (`:workspace`), and protected files read-only. A missing file is not
 * named, because Codex would create it. A setting of the user about the sandbox is never replaced: it may allow less.
 */
export const codexSandbox: AgentSandbox = {
  file: ({ root }) => join(root, '.codex', 'config.toml'),
  install(text, readOnly) {
    const rest = withoutOurs(text ?? '')
    const rules = readOnly.map((path) => tomlSetting(JSON.stringify(path), 'read'))
    const table = [
      mark,
      `[permissions.${profile}]`,
      tomlSetting('extends', ':workspace'),
      `[permissions.${profile}.filesystem.":workspace_roots"]`,
      ...rules,
    ]
    // Keys of the whole file come before the first table.
    return `${selection}\n${rest === '' || rest.endsWith('\n') ? rest : `${rest}\n`}${table.join('\n')}\n`
  },
  uninstall(text) {
    const rest = withoutOurs(text)
    return rest.trim() === '' ? null : rest
  },
  readOnlyIn(text) {
    const own = text?.slice(text.indexOf(mark)) ?? ''
    if (text === null || !text.includes(mark) || !text.includes(selection)) return null
    return [...own.matchAll(/^("(?:[^"\\]|\\.)+") = "read"$/gm)].map(([, path = '""']) =>
      String(JSON.parse(path)),
    )
  },
  overruled(files) {
    for (const { path, text } of files) {
      if (!path.endsWith('config.toml') || text === null) continue
      const key = /^[ \t]*(sandbox_mode|default_permissions)\s*=/m.exec(withoutOurs(text))?.[1]
      if (key !== undefined) return `${key} in ${path} decides what commands may change`
    }
    return null
  },
}

const selection = `${tomlSetting('default_permissions', profile)} ${mark}`

/** Our table goes up to the next one that is not ours, or to the end. */
function withoutOurs(text: string): string {
  const rest = text.replace(`${selection}\n`, '')
  const at = rest.indexOf(`${mark}\n[permissions.${profile}]`)
  if (at === -1) return rest
  const after = rest.slice(at)
  const next = after.slice(mark.length).search(new RegExp(`^\\[(?!permissions\\.${profile}[.\\]])`, 'm'))
  return rest.slice(0, at) + (next === -1 ? '' : after.slice(mark.length + next))
}
