import { nearest } from '../../../core/nearest.ts'
import type { HookComponent, HookHandler } from '../contract.ts'
import { givesArgument, pluginReferences, startedByRelativePath } from '../files/plugin-references.ts'
import type { FindingCode } from '../finding-codes.ts'
import type { PluginSource } from '../manifest/read-manifest.ts'
import { about } from '../notes.ts'
import { handlerFields, isHandlerType } from './handler-fields.ts'
import type { HookEventFacts } from './hook-events.ts'

/** Findings about a handler that Claude Code loads, from the files alone. */
export function noteHandler(
  handler: HookHandler,
  component: HookComponent,
  facts: HookEventFacts,
  plugin: PluginSource,
): void {
  const { event } = component
  const add: AddFinding = (code, message, suggestion, severity) =>
    plugin.notes.add(code, { message, suggestion, severity, ...about('hook', component) })
  noteWhetherRuns(handler, event, facts, add)
  noteTimeout(handler, event, add)
  noteKeys(handler, add)
  const scripts = handler.type === 'command' ? noteScripts(handler, plugin, add) : []
  noteOutput([handler.action, ...scripts], handler, event, facts, add)
}

function noteWhetherRuns({ type, raw }: HookHandler, event: string, facts: HookEventFacts, add: AddFinding) {
  if (raw.if !== undefined && !facts.takesCondition)
    add(
      'HOOK_NEVER_RUNS',
      `a handler of ${event} has an if, which only tool events support, so it never runs`,
      'Remove the if, and check the input in the hook itself.',
    )
  if (!facts.takes.some((taken) => taken === type))
    add(
      'HOOK_NEVER_RUNS',
      `${event} does not support handlers of type ${type}, so it never runs`,
      `Use one of ${facts.takes.join(', ')}.`,
    )
}

/** Longer values are most likely milliseconds. */
const longestSeconds = 3_600

function noteTimeout({ timeout_seconds: seconds }: HookHandler, event: string, add: AddFinding): void {
  if (seconds === undefined) return
  if (seconds > longestSeconds)
    add(
      'HOOK_TIMEOUT',
      `the time limit is ${seconds} seconds`,
      `Write seconds: ${Math.max(1, Math.round(seconds / 1_000))}.`,
    )
  if (event === 'SessionEnd' && seconds > 1.5)
    add(
      'HOOK_TIMEOUT',
      'at the end of a session all hooks of plugins share 1.5 seconds, whatever the timeout',
      'Do less there, or start a program in the background.',
      'info',
    )
}

function noteKeys({ type, raw }: HookHandler, add: AddFinding): void {
  if (!isHandlerType(type)) return
  if (raw.once !== undefined)
    add('HOOK_FIELD_IGNORED', 'once has an effect only in the frontmatter of a skill', 'Remove it.', 'info')
  if (raw.onFailure !== undefined)
    add(
      'HOOK_FIELD_IGNORED',
      'Claude Code before 2.1.295 ignores onFailure: there, a hook that fails blocks nothing',
      'Answer with exit code 2 whenever the hook itself fails.',
      'info',
    )
  const known = handlerFields(type)
  for (const key of Object.keys(raw).filter((each) => !known.includes(each))) {
    const near = nearest(key, known)
    add(
      'HOOK_FIELD_IGNORED',
      `a ${type} handler has no key '${key}'`,
      near === undefined ? 'Remove it.' : `Did you mean '${near}'?`,
      near === undefined ? 'info' : 'warning',
    )
  }
}

type AddFinding = (
  code: FindingCode,
  message: string,
  suggestion: string,
  severity?: 'warning' | 'info',
) => void

/** Checks that the files a command hook starts exist. Returns their texts. */
function noteScripts({ action }: HookHandler, { files }: PluginSource, add: AddFinding): readonly string[] {
  const texts: string[] = []
  for (const { path, isProgram } of pluginReferences(action)) {
    const place = files.placeOf(path)
    // A command that looks for the file first expects that it may be missing.
    if (place === 'missing' && !/(?:\[|\btest)\s+!?\s*-[efx]\s/.test(action))
      add(
        'HOOK_SCRIPT_MISSING',
        `${path} does not exist, and a hook that cannot start blocks nothing`,
        'Correct the path.',
      )
    if (place !== 'file') continue
    if (isProgram && !files.isExecutable(path))
      add(
        'HOOK_SCRIPT_NOT_EXECUTABLE',
        `${path} is not executable, and a hook that cannot start blocks nothing`,
        `Run chmod +x ${path}, or start it by its interpreter.`,
      )
    const script = looksLikeScript.test(path) ? files.read(path) : null
    if (script !== null) texts.push(script.text)
  }
  for (const path of startedByRelativePath(action))
    if (files.placeOf(path) === 'file')
      add(
        'HOOK_PATH_RELATIVE',
        `${path} is resolved in the project, not in the plugin`,
        `Write \${CLAUDE_PLUGIN_ROOT}/${path}.`,
      )
  return texts
}

/** Excludes binaries of many megabytes. */
const looksLikeScript = /(?:\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|ps1)|\/[^./]+|^[^./]+)$/

/**
 * Likely mistakes in the text of a hook and of the scripts it starts: answers that its event rejects, and exit codes without the
 * intended effect. Text is not proof, so a person should check these findings.
 */
function noteOutput(
  words: readonly string[],
  { type }: HookHandler,
  event: string,
  facts: HookEventFacts,
  add: AddFinding,
): void {
  const text = words.join('\n')
  // A script that reads the name of the event serves several of them; its text does not show what it answers to which.
  if (type !== 'command' || /hook_event_name/.test(text) || namedEvents(text).length > 1) return
  // The same if an argument names the event.
  const hasOutput = /hookSpecificOutput/.test(text) && !givesArgument(words[0] ?? '')
  if (hasOutput && facts.output === null)
    add(
      'HOOK_OUTPUT_REJECTED',
      `${event} does not accept hookSpecificOutput: Claude Code rejects the whole answer`,
      event === 'PreCompact'
        ? 'Save the context in PreCompact, and give it in SessionStart with the matcher compact.'
        : 'Answer with exit code 2 or with decision, or with nothing.',
    )
  const otherEvent = hasOutput ? namedEvents(text) : []
  if (facts.output !== null && otherEvent.length > 0 && !otherEvent.includes(event))
    add(
      'HOOK_OUTPUT_REJECTED',
      `the hook runs at ${event} but answers for ${otherEvent.join(', ')}: Claude Code rejects such an answer`,
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

/** A hook can also decide by its output. */
const decides = /permissionDecision|["']?decision["']?\s*[:=]|\bdeny\b/
const exitOne = /\bexit\s+1\b|\.exit\(\s*1\s*\)|process\.exitCode\s*=\s*1\b/
const exitTwo = /\bexit\s+2\b|\.exit\(\s*2\s*\)|process\.exitCode\s*=\s*2\b/
const masked = /\|\|\s*(?:true|:|exit 0)\s*$/

function noteExitCode(words: readonly string[], event: string, facts: HookEventFacts, add: AddFinding): void {
  const text = words.join('\n')
  const [command = '', ...rest] = words
  const scripts = rest.length === 0 ? command : rest.join('\n')
  if (facts.exitTwo === 'blocks' && refusesWithOne(text) && !exitTwo.test(text) && !decides.test(scripts))
    add(
      'HOOK_EXIT_CODE',
      `exit code 1 blocks nothing at ${event}: what was about to happen goes on`,
      'Where the hook means to refuse, exit with 2 and say why on stderr.',
    )
  if (facts.exitTwo === 'blocks' && masked.test(command.trim()) && exitTwo.test(text))
    add('HOOK_EXIT_CODE', 'the command ends in || true, so its exit code blocks nothing', 'Remove || true.')
  if (facts.exitTwo === 'ignored' && exitTwo.test(text))
    add(
      'HOOK_EXIT_CODE',
      `exit code 2 has no effect at ${event}`,
      event === 'PermissionRequest' ? 'Answer with a decision on stdout.' : 'Use an event that can block.',
    )
}

const refusal = /\b(?:block(?:ed|ing)?|den(?:y|ied)|refus\w+|forbid\w*|prohibited|reject\w*|not allowed)\b/i
const foundText = /\bgrep\b[^|;]*&&\s*\{?\s*exit\s+1\b/

/** An exit with 1 is usually an error of the hook itself. It is a refusal when the lines before it say so. */
function refusesWithOne(text: string): boolean {
  const lines = text.split('\n')
  return lines.some(
    (line, at) =>
      exitOne.test(line) &&
      (foundText.test(line) || lines.slice(Math.max(0, at - 2), at + 1).some((each) => refusal.test(each))),
  )
}

function namedEvents(text: string): readonly string[] {
  const found = [...text.matchAll(/hookEventName["']?\s*[:=]\s*["'](\w+)["']/g)].map(
    (match) => match[1] ?? '',
  )
  return [...new Set(found)]
}
