import { basename } from 'node:path'
import type { Attempt, Tampering } from './attempt.ts'
import { programAt } from './spoken-runs.ts'

/** Variables that would lead later hooks astray, put where later processes take them from. */
export const steeringVariables: Tampering = (attempt) => {
  const { text } = attempt
  const named = hints.some((hint) => text.includes(hint)) ? steering.exec(text)?.[0] : undefined
  if (named === undefined) return null
  const file = attempt.targets.writes.find(({ path }) => isStartFile(path, attempt))
  if (file !== undefined)
    return `it would put ${named} into ${file.path}, from where later hooks would take it`
  const { call, runs } = attempt
  if (call.action.kind === 'unknown' && /disableAllHooks|allowManagedHooksOnly/.test(attempt.text))
    return `it would set ${named}`
  const lasting =
    runs.some((run) => setsForAll(run.words)) ||
    runs.some((run) => programAt(run, (name) => name === 'launchctl' || name === 'setx') >= 0)
  if (lasting) return `it would set ${named} for every process to come`
  if (call.action.kind === 'shell' && /\$\{?CLAUDE_ENV_FILE\b/.test(attempt.text))
    return `it would put ${named} into the session's environment file`
  return null
}

/** Each match of `steering` has one of them in it. To look for them is quicker than to compile it, which a hook does every time. */
const hints =
  'HARNESS_ GANTRY_ CLAUDE_ CODEX_HOME XDG_STATE_HOME LD_PRELOAD NODE_OPTIONS disableAllHooks allowManagedHooksOnly claude codex gemini copilot cursor-agent opencode'.split(
    ' ',
  )

const steering =
  /\bHARNESS_\w+|\bGANTRY_\w+|\bCLAUDE_(?:PROJECT_DIR|CONFIG_DIR|ENV_FILE|CODE_SIMPLE|PLUGIN_ROOT|PLUGIN_DATA)(?==)|\bCODEX_HOME(?==)|\bXDG_STATE_HOME(?==)|\bLD_PRELOAD|\bNODE_OPTIONS=["']?[^\n]*--?(?:require|import|r|loader)\b|\bdisableAllHooks|\ballowManagedHooksOnly|\b(?:alias\s+|function\s+)?(?:claude|codex|gemini|copilot|cursor-agent|opencode)(?:=|\s*\(\)\s*\{)/

const startFiles =
  /^(\.(bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|envrc|pam_environment|xprofile|xsessionrc)|environment|bash\.bashrc|zshenv|profile|config\.fish)$/i

function isStartFile(path: string, { world }: Attempt): boolean {
  const envFile = world.env.CLAUDE_ENV_FILE
  if (envFile !== undefined && envFile !== '' && path === envFile) return true
  return (
    startFiles.test(basename(path)) ||
    startFiles.test(basename(world.resolve(path).real)) ||
    /\/(environment|profile|fish\/conf)\.d\//.test(path) ||
    /\/session-env\//.test(path)
  )
}

function setsForAll(words: readonly (string | null)[]): boolean {
  return (
    words.includes('systemctl') &&
    words.some((word) => word === 'set-environment' || word === 'import-environment')
  )
}
