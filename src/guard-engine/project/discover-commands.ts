import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { DeclaredCommand } from '../contract.ts'
import { scriptsIn } from '../evidence/coverage/read-check.ts'
import { planCommandSource, settingsCommandSource } from './command-sources.ts'
import { headingOf, looksLikeCommand, markdownLines, maxLineLength } from './markdown-lines.ts'
import { type ProjectFiles, toolchains } from './toolchains.ts'

/** What people declared, in order of priority. */
interface Declarations {
  /** From the settings. */
  readonly settings: readonly string[]
  /** From the Verification section of the plan. */
  readonly plan: readonly string[]
}

const instructions = ['AGENTS.md', 'CLAUDE.md']

/**
 * The commands that verify a project: declared ones first, then those its toolchains suggest. Each appears once, at its first place: the
 * order is the priority.
 */
export function discoverCommands(files: ProjectFiles, declared: Declarations): readonly DeclaredCommand[] {
  const found = new Map<string, DeclaredCommand>()
  const add = (commands: readonly string[], source: string, explicit: boolean): void => {
    for (const text of commands) {
      const command = text.trim()
      const key = command.replaceAll(/\s+/g, ' ')
      if (key === '' || found.has(key)) continue
      const script = explicit ? chainBehind(key, files) : null
      found.set(key, { command, kind: kindOfCommand(command), source, explicit, ...(script && { script }) })
    }
  }
  add(declared.settings, settingsCommandSource, true)
  add(declared.plan, planCommandSource, true)
  for (const name of instructions) add(readAgentsMd(files.read(name) ?? ''), name, true)
  for (const toolchain of toolchains) {
    const source = toolchain.source(files)
    if (source !== null) add(toolchain.commands(files), source, false)
  }
  // The only check of a project of shell scripts.
  const [script] =
    found.size === 0
      ? ['test.sh', 'tests.sh', 'run-tests.sh', 'run_tests.sh'].filter((name) => files.names.has(name))
      : []
  if (script !== undefined)
    add([`${/^#!.*\bbash\b/.test(files.read(script) ?? '') ? 'bash' : 'sh'} ${script}`], script, false)
  return [...found.values()]
}

/** For `npm run check`: `tsc --noEmit && npm test`. Scripts that npm runs before or after it would be left out. */
function chainBehind(command: string, { read }: ProjectFiles): string | null {
  const [, name] = /^(?:npm|pnpm|yarn) (?:run )?([\w:.-]+)$/.exec(command) ?? []
  if (name === undefined) return null
  const scripts = scriptsIn(read('package.json'))
  const script = scripts.get(name)
  const isWhole = !scripts.has(`pre${name}`) && !scripts.has(`post${name}`)
  return script?.includes(' && ') && isWhole ? script : null
}

const maxCommands = 20

const aboutVerification =
  /\b(?:verif\w*|tests?|testing|checks?|checking|lint\w*|validat\w*|quality|gates?|ci|before you (?:are done|finish|commit|push))\b/i
const negated = /\b(?:not|never|don['’]?t|avoid|without)\b/i
const forOneTest = /\b(?:single|specific|individual|particular|one (?:test|file)|watch)\b/i

/** Headings whose bullets name something else than checks. */
const aboutOther =
  /\b(?:layout|structure|architecture|director\w*|folders?|files?|conventions?|style|naming|set-?up|install\w*|getting started|prerequisites?|dependenc\w+|environment|develop\w*|running|usage|examples?|deploy\w*|releas\w+|publish\w*|operations?|database|migrations?|git|commits?|debugg?\w*|tools?|aliases)\b/i

/**
 * Commands that are plainly not checks: servers, watchers, deployments, migrations, installations, generators, and programs that only look
 * or move around.
 */
const notACheck = [
  /^(?:\S+=\S*\s+)*(?:cd|ls|cat|cp|mv|rm|mkdir|echo|export|source|\.|open|code|vi|vim|nano|less|grep|rg|find|git|gh|ssh|scp|rsync|curl|wget|psql|mysql|redis-cli|sqlite3|kubectl|helm|terraform|pulumi|ansible\S*|aws|gcloud|az|flyctl|fly|heroku|vercel|netlify|docker-compose|docker|podman|brew|apt(?:-get)?|nvm|fnm|pyenv|direnv|claude|codex|gemini|gantry)(?:\s|$)/,
  /(?:^|[\s:_/-])(?:dev|serve|server|start|watch|preview|storybook|repl|console|shell|up|down|deploy\w*|release|publish|push|migrat\w+|seed|rollback|install|uninstall|add|remove|upgrade|update|sync|init|create|generate|codegen|scaffold|new|clean|reset|format|fmt|fix|login|logs?|open|download|fetch|bootstrap|setup)(?=$|[\s:;.])/i,
  /^(?:uvicorn|gunicorn|flask|hypercorn|nodemon|rackup|puma|alembic|prisma|knex|sequelize|typeorm|drizzle-kit|flyway|liquibase|rails\s+(?:s|c|db)|django-admin|jupyter|ngrok|tail)\b/,
  /\bmanage\.py\s+(?!test|check)/,
  /\s--(?:fix|write|apply)\b/,
]

/**
 * Commands that AGENTS.md declares as verification: every bullet that starts with a command in backticks, with or without a heading, and
 * bullets that say to run a known command, or put a label before it. Left out: commands that are plainly not checks, and, under a heading about
 * something else, commands that are not known to test, lint or build. Other bullets quote paths, names or single tests.
 */
export function readAgentsMd(text: string): readonly string[] {
  const found = new Set<string>()
  const headings: { readonly level: number; readonly verifies: boolean; readonly isOther: boolean }[] = []
  for (const line of markdownLines(text)) {
    if (line.text.length > maxLineLength) continue
    const heading = headingOf(line.text)
    if (heading !== null) {
      while ((headings.at(-1)?.level ?? 0) >= heading.level) headings.pop()
      const verifies = aboutVerification.test(heading.text) && !negated.test(heading.text)
      const isOther = !verifies && (aboutOther.test(heading.text) || negated.test(heading.text))
      headings.push({ level: heading.level, verifies, isOther })
      continue
    }
    const item = /^\s*(?:[-*+]|\d+[.)])\s*(?:\[[ xX]\]\s*)?(\S.*)$/.exec(line.text)?.[1]
    if (item === undefined) continue
    const isVerified = headings.some(({ verifies }) => verifies)
    const isOther = headings.at(-1)?.isOther === true
    const about = isVerified ? 'verification' : isOther ? 'other' : 'anything'
    for (const command of item.startsWith('`') ? leading(item, about) : commandsToRun(item, about)) {
      found.add(command)
      if (found.size === maxCommands) return [...found]
    }
  }
  return [...found]
}

type About = 'verification' | 'other' | 'anything'

function leading(item: string, about: About): readonly string[] {
  const { command, rest } = quotedAt(item)
  if (command === null || forOneTest.test(rest)) return []
  const isMeant = about !== 'other' && saysWhatItDoes(rest)
  const alone = about === 'verification' && isMeant && rest.trim() === ''
  if (!looksLikeCommand(command, { alone })) return []
  if (kindOfCommand(command) !== 'other') return [command]
  return isMeant && (about === 'verification' || !isPlainlyNoCheck(command, rest)) ? [command] : []
}

function isPlainlyNoCheck(command: string, rest: string): boolean {
  return (
    notACheck.some((pattern) => pattern.test(command.replace(/^cd\s+\S+\s*&&\s*/, ''))) ||
    /^\W*(?:starts?|runs? the (?:app|server|dev)|serves?|deploys?|migrates?|installs?|opens?|creates?|generates?|builds? and (?:runs?|deploys?))\b/i.test(
      rest,
    )
  )
}

/** `cmd`, `cmd` - text, `cmd`: text, `cmd` runs text. Not: `describe` blocks group tests. */
function saysWhatItDoes(rest: string): boolean {
  return /^\s*(?:$|[-–—:(#,;.=→|]|(?:runs?|to|for|checks?|verif\w+|must|should|before|after|and|passes|from|in)\b)/i.test(
    rest,
  )
}

const leadIn =
  /^(?:(?:always|please|then|first|finally|also)[, ]+)?(?:run|execute)[: ]+$|^\W*(?:tests?|unit tests?|lint(?:ing)?|type[- ]?check(?:s|ing)?|checks?|verify|verification|validate|build)\W*:\W*$/i

/** `api:`, `**Web app:**`. Such a label says nothing about the command, which must be a check by itself. */
const anyLabel =
  /^(?!.*\b(?:notes?|hints?|tips?|e\.?g|examples?|optional\w*|slow|nightly|manual\w*|debug\w*|updat\w+|snapshots?|coverage|e2e|if|when|only)\b)\W*[\w /&.+-]{1,40}\W*:\W*$/i

const maxLead = 200

/** Run `a` and `b` before committing. Test: `a`. api: `cd api && pytest`. */
function commandsToRun(item: string, about: About): readonly string[] {
  const start = item.indexOf('`')
  const lead = item.slice(0, Math.max(start, 0))
  if (lead.length > maxLead) return []
  const isLabelled = about !== 'other' && anyLabel.test(lead) && !negated.test(lead)
  const isMeant = leadIn.test(lead)
  if (start === -1 || !(isMeant || isLabelled) || forOneTest.test(item)) return []
  const commands: string[] = []
  for (let at = item.slice(start); at.startsWith('`'); ) {
    const { command, rest } = quotedAt(at)
    if (command === null || !looksLikeCommand(command) || kindOfCommand(command) === 'other') break
    const isCheck = kindOfCommand(command) !== 'build' && !isPlainlyNoCheck(command, rest)
    if (!isMeant && !(isCheck && saysWhatItDoes(rest))) break
    commands.push(command)
    at = rest.replace(/^\s*(?:,|&|and\b|then\b|, and\b)\s*/, '')
  }
  return commands
}

function quotedAt(text: string): { readonly command: string | null; readonly rest: string } {
  const match = /^(`+)(?!`)(.+?)(?<!`)\1(?!`)(.*)$/.exec(text)
  return { command: match?.[2]?.trim() ?? null, rest: match?.[3] ?? '' }
}
