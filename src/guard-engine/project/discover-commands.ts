import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { DeclaredCommand } from '../contract.ts'
import { planSource, settingsSource } from './declaring-files.ts'
import { headingOf, looksLikeCommand, markdownLines, maxLineLength } from './markdown-commands.ts'
import { type ProjectFiles, toolchains } from './toolchains.ts'

/** What people wrote down, in the order in which it counts. */
interface Declarations {
  /** Of the settings. */
  readonly settings: readonly string[]
  /** Of the plan's section Verification. */
  readonly plan: readonly string[]
}

const instructions = ['AGENTS.md', 'CLAUDE.md']

/**
 * The commands that verify a project: first those somebody declared, then those its toolchains suggest. Each once, at the
 * place of the first that names it: the order is the priority and is kept.
 */
export function discoverCommands(files: ProjectFiles, declared: Declarations): readonly DeclaredCommand[] {
  const found = new Map<string, DeclaredCommand>()
  const add = (commands: readonly string[], source: string, explicit: boolean): void => {
    for (const text of commands) {
      const command = text.trim()
      const key = command.replaceAll(/\s+/g, ' ')
      if (key !== '' && !found.has(key))
        found.set(key, { command, kind: kindOfCommand(command), source, explicit })
    }
  }
  add(declared.settings, settingsSource, true)
  add(declared.plan, planSource, true)
  for (const name of instructions) add(readAgentsMd(files.read(name) ?? ''), name, true)
  for (const toolchain of toolchains) {
    const source = toolchain.source(files)
    if (source !== null) add(toolchain.commands(files), source, false)
  }
  return [...found.values()]
}

const maxCommands = 20

const aboutVerification =
  /\b(?:verif\w*|tests?|testing|checks?|checking|lint\w*|validat\w*|quality|gates?|ci|before you (?:are done|finish|commit|push))\b/i
const negated = /\b(?:not|never|don['’]?t|avoid|without)\b/i
const forOneTest = /\b(?:single|specific|individual|particular|one (?:test|file)|watch)\b/i

/**
 * Commands that AGENTS.md declares as verification. A bullet that starts with a backticked command declares it when the command
 * is known to test, lint or build, or when a heading above says that it verifies. A bullet that says to run a known one, or
 * labels it, declares it too. Other bullets quote paths, names, ways to start things or to run one test.
 */
export function readAgentsMd(text: string): readonly string[] {
  const found = new Set<string>()
  const headings: { readonly level: number; readonly verifies: boolean }[] = []
  for (const line of markdownLines(text)) {
    if (line.text.length > maxLineLength) continue
    const heading = headingOf(line.text)
    if (heading !== null) {
      while ((headings.at(-1)?.level ?? 0) >= heading.level) headings.pop()
      const verifies = aboutVerification.test(heading.text) && !negated.test(heading.text)
      headings.push({ level: heading.level, verifies })
      continue
    }
    const item = /^\s*(?:[-*+]|\d+[.)])\s*(?:\[[ xX]\]\s*)?(\S.*)$/.exec(line.text)?.[1]
    if (item === undefined) continue
    const isVerified = headings.some(({ verifies }) => verifies)
    for (const command of item.startsWith('`') ? leading(item, isVerified) : toldToRun(item)) {
      found.add(command)
      if (found.size === maxCommands) return [...found]
    }
  }
  return [...found]
}

function leading(item: string, underHeading: boolean): readonly string[] {
  const { command, rest } = quotedAt(item)
  if (command === null || forOneTest.test(rest)) return []
  const isMeant = underHeading && saysWhatItDoes(rest)
  if (!looksLikeCommand(command, { alone: isMeant && rest.trim() === '' })) return []
  return kindOfCommand(command) !== 'other' || isMeant ? [command] : []
}

/** `cmd`, `cmd` - text, `cmd`: text, `cmd` runs text. Not: `describe` blocks group tests. */
function saysWhatItDoes(rest: string): boolean {
  return /^\s*(?:$|[-–—:(#,;.=→|]|(?:runs?|to|for|checks?|verif\w+|must|should|before|after|and|passes|from|in)\b)/i.test(
    rest,
  )
}

const leadIn =
  /^(?:(?:always|please|then|first|finally|also)[, ]+)?(?:run|execute)[: ]+$|^\W*(?:tests?|unit tests?|lint(?:ing)?|type[- ]?check(?:s|ing)?|checks?|verify|verification|validate|build)\W*:\W*$/i

/** Run `a` and `b` before committing. Test: `a`. */
function toldToRun(item: string): readonly string[] {
  const start = item.indexOf('`')
  if (start === -1 || !leadIn.test(item.slice(0, start)) || forOneTest.test(item)) return []
  const commands: string[] = []
  for (let at = item.slice(start); at.startsWith('`'); ) {
    const { command, rest } = quotedAt(at)
    if (command === null || !looksLikeCommand(command) || kindOfCommand(command) === 'other') break
    commands.push(command)
    at = rest.replace(/^\s*(?:,|&|and\b|then\b|, and\b)\s*/, '')
  }
  return commands
}

function quotedAt(text: string): { readonly command: string | null; readonly rest: string } {
  const match = /^(`+)(?!`)(.+?)(?<!`)\1(?!`)(.*)$/.exec(text)
  return { command: match?.[2]?.trim() ?? null, rest: match?.[3] ?? '' }
}
