import { join } from 'node:path'
import { stringify } from 'yaml'
import { parseObject } from '../core/json-fields.ts'
import type { DeclaredCommand } from '../guard-engine/contract.ts'
import { readProjectFacts } from '../guard-engine/project/read-project-facts.ts'
import { defaultSettings } from '../guard-engine/settings/settings.ts'
import { directoriesIn, readTextIfExists } from '../io/directory.ts'
import { isFile } from '../io/path-kind.ts'
import { cmakeBuild } from './diagnose.ts'
import { installsFor } from './installs-for.ts'

const maxSteps = 6

/** By keywords of the detected toolchains; the first match wins. */
const images: readonly (readonly [RegExp, string])[] = [
  [/^Node\.js/, 'node:24'],
  [/^Python|^Ruff/, 'python:3.13'],
  [/^Go$|^golangci/, 'golang:1.25'],
  [/^Rust$/, 'rust:1'],
  [/^Gradle$|^Maven$/, 'eclipse-temurin:21'],
  [/^Ruby$/, 'ruby:3.4'],
  [/^PHP$/, 'php:8.4'],
  [/^\.NET$/, 'mcr.microsoft.com/dotnet/sdk:9.0'],
  [/^Deno$/, 'denoland/deno:2'],
  [/^Elixir$/, 'elixir:1.18'],
  [/^Swift$/, 'swift:6'],
  [/^CMake$|^make$/, 'gcc:14'],
]

export interface Proposed {
  readonly image: string
  /** Installs what the steps need. */
  readonly setup: readonly ProposedStep[]
  /** The commands that were found; may be empty. */
  readonly steps: readonly ProposedStep[]
}

export interface ProposedStep {
  readonly name: string
  readonly command: string
  /** The file that contains it, or asks for it. */
  readonly source: string
  /** A person wrote it down as a check of this project. */
  readonly explicit?: boolean
  readonly network?: 'allow'
}

/** The image, the installation and the verification commands of a repository, in order, based on its files. */
export async function proposeAgentFile(repository: string, image?: string): Promise<Proposed> {
  const parts: Part[] = []
  for (const under of ['.', ...directoriesIn(repository).filter((name) => !notAProject.test(name))]) {
    const known = parts.flatMap(({ toolchains }) => toolchains)
    const facts = await readProjectFacts(join(repository, under), defaultSettings, { entries: false })
    const toolchains = (facts.toolchains ?? []).map((name) => name.replace(/ .*/, ''))
    // What the root has covers the directories below it.
    if (under !== '.' && toolchains.every((name) => known.includes(name))) continue
    parts.push({ under, toolchains, commands: commandsIn(repository, under, facts.commands) })
  }
  const found = parts.flatMap(({ commands }) => commands).slice(0, maxSteps)
  const used = parts.filter(({ under, commands }) => under === '.' || commands.length > 0)
  return {
    image: image ?? imageFor(used.flatMap(({ toolchains }) => toolchains)),
    setup:
      found.length === 0
        ? []
        : named(
            used
              .flatMap(({ under }) => installsFor(repository, { under }))
              .map((each) => ({ ...each, kind: 'install' })),
          ),
    steps: named(found.map((each) => ({ ...each, kind: each.kind === 'other' ? 'check' : each.kind }))),
  }
}

/** A directory with its own toolchain. */
interface Part {
  readonly under: string
  readonly toolchains: readonly string[]
  readonly commands: readonly Found[]
}

type Found = Pick<DeclaredCommand, 'command' | 'source' | 'kind' | 'explicit'>

const notAProject =
  /^(?:\.|node_modules$|vendor$|third[_-]?party$|examples?$|docs?$|tests?$|fixtures$|scripts$|build$|dist$|target$|v?env$)/

function commandsIn(
  repository: string,
  under: string,
  declared: readonly DeclaredCommand[],
): readonly Found[] {
  const place = join(repository, under)
  const all = declared.some(({ kind }) => kind === 'test')
    ? declared
    : [...workspaceTests(place), ...declared]
  return all.flatMap((each): readonly Found[] => {
    const { kind, explicit } = each
    const source = under === '.' ? each.source : `${under}/${each.source}`
    const inside = (command: string): string => (under === '.' ? command : `cd ${under} && ${command}`)
    const own = { command: inside(each.command), kind, source, explicit }
    const isBuilt = each.command.startsWith('ctest ') && !explicit
    return isBuilt ? [{ ...own, command: inside(cmakeBuild), kind: 'build' }, own] : [own]
  })
}

/** Tests of the packages of a workspace whose root has none. */
function workspaceTests(place: string): readonly Found[] {
  const { workspaces } = parseObject(readTextIfExists(join(place, 'package.json')) ?? '') ?? {}
  const has = (name: string): boolean => isFile(join(place, name))
  const test = (command: string, source = 'package.json'): readonly Found[] => [
    { command, source, kind: 'test', explicit: false },
  ]
  if (has('pnpm-workspace.yaml')) return test('pnpm -r test', 'pnpm-workspace.yaml')
  if (workspaces === undefined) return []
  if (has('yarn.lock')) return test('yarn workspaces run test')
  if (has('bun.lock') || has('bun.lockb')) return test("bun --filter '*' test")
  return test('npm test --workspaces --if-present')
}

/** The text of agent.yaml. */
export function agentFileText({ image, setup, steps }: Proposed): string {
  const plain = ({ name, command, network }: ProposedStep) => ({
    name,
    command,
    ...(network !== undefined && { network }),
  })
  const listed =
    steps.length === 0
      ? [{ name: 'test', command: 'echo "write the command that verifies this project" && exit 1' }]
      : steps.map(plain)
  const body = stringify(
    {
      verification: {
        container_image: image,
        workspace: 'overlay',
        network: 'none',
        ...(setup.length > 0 && { setup: setup.map(plain) }),
        steps: listed,
      },
      timeouts: { verification_step: 300_000 },
    },
    { lineWidth: 0 },
  )
  const notes = [
    '# How this repository is verified: gantry verify runs the steps in a sandbox, in order, and stops at the first that fails.',
    '# Setup installs what they need, with the network, and runs again when a lock file changes. Steps have no network.',
    '# What they write to the directory is thrown away (workspace: overlay).',
  ]
  return `${notes.join('\n')}\n${body}`
}

function imageFor(toolchains: readonly string[]): string {
  for (const toolchain of toolchains) {
    const found = images.find(([pattern]) => pattern.test(toolchain))
    if (found !== undefined) return found[1]
  }
  return 'debian:stable'
}

/** `test`, `lint`, …; a second one of the same kind gets a number. */
function named(
  all: readonly (Omit<ProposedStep, 'name'> & { readonly kind: string })[],
): readonly ProposedStep[] {
  return all.map(({ kind, ...step }, index) => {
    const before = all.slice(0, index).filter((other) => other.kind === kind).length
    return { ...step, name: before === 0 ? kind : `${kind} ${before + 1}` }
  })
}
