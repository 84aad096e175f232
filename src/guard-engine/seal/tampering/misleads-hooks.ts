import { basename, delimiter, dirname } from 'node:path'
import { anyOf } from '../../../core/any-of.ts'
import { fold } from '../guarded-path-matcher.ts'
import { nameOf, programAt, type TamperAttempt, type Tampering } from './attempt.ts'

/** Replacing a program that the hooks or the evidence use, or injecting code into every program. */
export const shadowsProgram: Tampering = (attempt) => {
  const places = programPlaces(attempt)
  for (const { path, how } of attempt.targets.writes) {
    const real = attempt.world.resolve(path).real
    if ([path, real].some((name) => isLoaded(name)))
      return `${path} is loaded into every program, the hooks among them`
    if ([path, real].some((name) => programs.test(basename(name)) && places.has(fold(dirname(name)))))
      return `${path} would replace a program that starts the hooks or reads the tree`
    if (isRunner(path, attempt) && !/mode|owner|removes/.test(how))
      return `${path} would replace a program that produces the evidence`
    if (fold(path) === fold(`${attempt.world.home}/.claude.json`))
      return `${path} says which projects are trusted, and without trust no hook of a project runs`
  }
  return null
}

const programs = /^(?:node|git|sh|env|gantry|claude|codex|gemini|copilot|cursor-agent|opencode)$/i

/** In the directory that npm puts first on the PATH: an existing program, or one that runs tests. */
function isRunner(path: string, { world }: TamperAttempt): boolean {
  if (!path.endsWith(`/node_modules/.bin/${basename(path)}`)) return false
  return (
    world.resolve(path).kind !== 'missing' || programs.test(basename(path)) || runners.test(basename(path))
  )
}

const runners =
  /^(?:npm|npx|pnpm|yarn|tsx?|ts-node|vitest|jest|mocha|ava|tap|c8|nyc|tsc|eslint|biome|playwright|cypress)$/i

function isLoaded(path: string): boolean {
  return /^\/etc\/ld\.so\.(?:preload|conf)$|^\/etc\/ld\.so\.conf\.d\//.test(path)
}

function programPlaces({ world }: TamperAttempt): ReadonlySet<string> {
  const listed = (world.env.PATH ?? '').split(delimiter).filter((place) => place !== '')
  return new Set([...listed, '/bin', '/usr/bin', '/usr/local/bin', `${world.home}/bin`].map(fold))
}

/** Setting variables that mislead later hooks, in places from which later processes read them. */
export const steeringVariables: Tampering = (attempt) => {
  const { text } = attempt
  const named = hints.some((hint) => text.includes(hint)) ? steering.exec(text)?.[0] : undefined
  if (named === undefined) return null
  const file = attempt.targets.writes.find(({ path }) => isStartFile(path, attempt))
  if (file !== undefined) return `it would put ${named} into ${file.path}, where later hooks would read it`
  const { call, runs } = attempt
  if (call.action.kind === 'unknown' && /disableAllHooks|allowManagedHooksOnly/.test(attempt.text))
    return `it would set ${named}`
  const lasting =
    runs.some((run) => setsForAll(run.words)) ||
    runs.some((run) => programAt(run, (name) => name === 'launchctl' || name === 'setx') >= 0)
  if (lasting) return `it would set ${named} for every later process`
  if (call.action.kind === 'shell' && /\$\{?CLAUDE_ENV_FILE\b/.test(attempt.text))
    return `it would put ${named} into the session's environment file`
  return null
}

/** Every match of `steering` contains one of these. Searching for them is faster than compiling it in every hook. */
const hints =
  'HARNESS_ GANTRY_ CLAUDE_ CODEX_HOME XDG_STATE_HOME LD_PRELOAD NODE_OPTIONS PERL disableAllHooks allowManagedHooksOnly claude codex gemini copilot cursor-agent opencode'.split(
    ' ',
  )

const steering = anyOf([
  /\bHARNESS_\w+/,
  /\bGANTRY_\w+/,
  /\bCLAUDE_(?:PROJECT_DIR|CONFIG_DIR|ENV_FILE|CODE_SIMPLE|PLUGIN_ROOT|PLUGIN_DATA)(?==)/,
  /\bCODEX_HOME(?==)/,
  /\bXDG_STATE_HOME(?==)/,
  /\bLD_PRELOAD/,
  /\bPERL\w+(?==)/,
  /\bNODE_OPTIONS=["']?[^\n]*--?(?:require|import|r|loader)\b/,
  /\bdisableAllHooks/,
  /\ballowManagedHooksOnly/,
  /\b(?:alias\s+|function\s+)?(?:claude|codex|gemini|copilot|cursor-agent|opencode)(?:=|\s*\(\)\s*\{)/,
])

const startFiles =
  /^(\.(bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|envrc|pam_environment|xprofile|xsessionrc)|environment|bash\.bashrc|zshenv|profile|config\.fish)$/i

function isStartFile(path: string, { world }: TamperAttempt): boolean {
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

/** Ending the hook or its helper process. */
export const endsHelper: Tampering = ({ runs, text, call }) => {
  if (call.action.kind !== 'shell') return null
  const ends = runs.some((run) => programAt(run, (name) => killers.has(name)) >= 0)
  if (!ends) return null
  const byName = runs.some((run) => {
    const at = programAt(run, (name) => name === 'pkill' || name === 'killall' || name === 'skill')
    return (
      at >= 0 && run.words.slice(at + 1).some((word) => /gantry|hook-bin/i.test(nameOf(word) + (word ?? '')))
    )
  })
  return byName ||
    /hook-bin|pgrep[^;|&\n]*gantry|gantry[ -]guard|guard\.sock|gantry-hook|guard[\w-]{0,80}\.pid/.test(text)
    ? "it would end the guard's own processes"
    : null
}

const killers = new Set('kill pkill killall skill fuser xargs systemctl taskkill stop-process'.split(' '))
