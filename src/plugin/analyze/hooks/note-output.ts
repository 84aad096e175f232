import type { HookHandler } from '../contract.ts'
import type { Add } from './add.ts'
import type { HookEventFacts } from './hook-events.ts'

/**
 * Traps that show in the words of a hook and of the scripts it starts: answers its event does not take, and exit codes that do
 * not do what they seem to. Words are no proof, so that these are written to be checked by a person.
 */
export function noteOutput(
  words: readonly string[],
  { type }: HookHandler,
  event: string,
  facts: HookEventFacts,
  add: Add,
): void {
  if (type !== 'command') return
  const text = words.join('\n')
  const hasOutput = /hookSpecificOutput/.test(text)
  if (hasOutput && !facts.takesOutput)
    add(
      'HOOK_OUTPUT_REJECTED',
      `${event} takes no hookSpecificOutput: the whole answer is rejected because of it`,
      event === 'PreCompact'
        ? 'Save the context in PreCompact, and give it in SessionStart with the matcher compact.'
        : 'Answer with exit code 2 or with decision, or with nothing.',
    )
  const otherEvent = hasOutput ? namedEvents(text) : []
  if (facts.takesOutput && otherEvent.length > 0 && !otherEvent.includes(event))
    add(
      'HOOK_OUTPUT_REJECTED',
      `the hook answers for ${otherEvent.join(', ')}, and runs at ${event}: such an answer is rejected`,
      `Set hookEventName to ${event}.`,
      'warning',
    )
  if (event === 'PreToolUse' && /["']?continue["']?\s*:\s*[Ff]alse/.test(text) && !decides.test(text))
    add(
      'HOOK_OUTPUT_REJECTED',
      'continue: false does not deny a call: the tool runs, and the turn ends after it',
      'Answer with permissionDecision deny, or with exit code 2.',
      'warning',
    )
  noteExitCode(words, event, facts, add)
}

/** A hook may answer by its output, too. */
const decides = /permissionDecision|["']?decision["']?\s*[:=]|\bdeny\b/
const exitOne = /\bexit\s+1\b|\.exit\(\s*1\s*\)|process\.exitCode\s*=\s*1\b/
const exitTwo = /\bexit\s+2\b|\.exit\(\s*2\s*\)|process\.exitCode\s*=\s*2\b/
const masked = /\|\|\s*(?:true|:|exit 0)\s*$/

function noteExitCode(words: readonly string[], event: string, facts: HookEventFacts, add: Add): void {
  const text = words.join('\n')
  const [command = ''] = words
  if (facts.exitTwo === 'blocks' && exitOne.test(text) && !exitTwo.test(text) && !decides.test(text))
    add(
      'HOOK_EXIT_CODE',
      `exit code 1 blocks nothing at ${event}: what was about to happen goes on`,
      'Exit with 2 and say why on stderr.',
    )
  if (facts.exitTwo === 'blocks' && masked.test(command.trim()))
    add(
      'HOOK_EXIT_CODE',
      'the command ends in || true, so that its exit code blocks nothing',
      'Let the exit code through.',
    )
  if (facts.exitTwo === 'ignored' && exitTwo.test(text))
    add(
      'HOOK_EXIT_CODE',
      `exit code 2 has no effect at ${event}`,
      event === 'PermissionRequest' ? 'Answer with a decision on stdout.' : 'Use an event that can block.',
    )
}

function namedEvents(text: string): readonly string[] {
  const found = [...text.matchAll(/hookEventName["']?\s*[:=]\s*["'](\w+)["']/g)].map(
    (match) => match[1] ?? '',
  )
  return [...new Set(found)]
}
