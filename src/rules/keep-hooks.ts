import type { FactName, MissingHook } from '../guard-engine/contract.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * Reports installed hooks that are gone: at the start of a session in every project, and after a call of the agent in this one, where they
 * have been put back. Git may take the files away, and then the next session would run without a guard and without a message.
 */
export const keepHooks: Rule = {
  name: 'keep-hooks',
  on: ['session_start', 'tool_after'],
  wants,
  judge: (scene) => missingHooks(scene),
}

function wants({ event, history, nowMs }: Omit<Scene, 'facts'>): readonly FactName[] {
  if (event.kind === 'session_start') return ['hooks']
  const isUnlocked = history.gate.unlockedUntilMs > Math.max(nowMs, history.session.latestMs)
  return event.kind === 'tool_after' && mayMoveFiles.has(event.call.action.kind) && !isUnlocked
    ? ['hooks']
    : []
}

const mayMoveFiles = new Set(['shell', 'unknown'])

function missingHooks({ event, facts, history }: Scene): RuleAnswer | null {
  const about = ({ path }: MissingHook): string => `hooks of ${path}`
  // Once, and again when the next session starts.
  const isKnown = (hook: MissingHook): boolean =>
    event.kind !== 'session_start' && history.session.warned.includes(about(hook))
  const hooks = (facts.hooks ?? []).filter((hook) => hook.result !== 'missing' || !isKnown(hook))
  if (hooks.length === 0) return null
  const gone = hooks.filter(({ result }) => result === 'missing')
  const kept = hooks.filter(({ result }) => result !== 'missing')
  const context = kept.map(({ path, result }) =>
    result === 'added'
      ? `Gantry added its hooks to the new worktree, in ${path}. Leave the file there; git ignores it.`
      : `This call removed or changed the guard's hooks in ${path}. Gantry has put them back. Do not remove them again.`,
  )
  const notice = [
    ...gone.slice(0, 5).map(({ agent, path, root, isOfUser, sinceMs, why }) => {
      const since = sinceMs === null ? '' : ` since ${new Date(sinceMs).toISOString()} at the latest`
      const where = isOfUser ? '--scope user' : `--root ${root}`
      const [what, first] =
        why === undefined ? ['are missing', ''] : [`do not run (${why})`, 'fix that file, then ']
      return `Gantry: the hooks of ${agent} ${what} in ${path}${since}. Sessions of ${agent} there are NOT guarded. To put them back: ${first}gantry guard install --agent ${agent} ${where}. If you removed them: gantry guard uninstall --agent ${agent} ${where}.`
    }),
    ...(gone.length > 5 ? [`Gantry: hooks are missing in ${gone.length - 5} more files.`] : []),
    ...kept.map(
      ({ path, result }) =>
        `Gantry: ${result === 'added' ? 'added hooks to' : 'put hooks back into'} ${path}.`,
    ),
  ]
  return {
    ...(context.length > 0 && { context: context.join('\n') }),
    notice: notice.join('\n'),
    remember: gone.map((hook) => ({ kind: 'warned', about: about(hook) })),
  }
}
