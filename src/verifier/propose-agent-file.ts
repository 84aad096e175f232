import { stringify } from 'yaml'
import type { DeclaredCommand, ProjectFacts } from '../guard-engine/contract.ts'

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
  readonly text: string
  readonly image: string
  /**
   * Detected commands, with the file that contains them; empty when there are none, and then the only step is a
   * placeholder.
   */
  readonly steps: readonly DeclaredCommand[]
}

/** An agent.yaml for a project, based on its files: the image, and the verification commands in order. */
export function proposeAgentFile(
  { commands, toolchains = [] }: Pick<ProjectFacts, 'commands' | 'toolchains'>,
  image: string = imageFor(toolchains),
): Proposed {
  const steps = commands.slice(0, maxSteps)
  const listed =
    steps.length === 0
      ? [{ name: 'test', command: 'echo "write the command that verifies this project" && exit 1' }]
      : steps.map(({ command, kind }, index) => ({ name: nameOf(kind, index, steps), command }))
  const body = stringify({
    verification: { container_image: image, workspace: 'overlay', network: 'none', steps: listed },
    timeouts: { verification_step: 300_000 },
  })
  const notes = [
    '# How this repository is verified: gantry verify runs the steps in a sandbox, in order, and stops at the first that fails.',
    '# The steps see the directory as it is, with installed dependencies; what they write to it is thrown away (workspace: overlay).',
    '# A step that needs the network wants network: allow.',
  ]
  return { text: `${notes.join('\n')}\n${body}`, image, steps }
}

function imageFor(toolchains: readonly string[]): string {
  for (const toolchain of toolchains) {
    const found = images.find(([pattern]) => pattern.test(toolchain))
    if (found !== undefined) return found[1]
  }
  return 'debian:stable'
}

/** `test`, `lint`, …; a second one of the same kind gets a number. */
function nameOf(kind: DeclaredCommand['kind'], index: number, all: readonly DeclaredCommand[]): string {
  const name = kind === 'other' ? 'check' : kind
  const before = all.slice(0, index).filter((other) => other.kind === kind).length
  return before === 0 ? name : `${name} ${before + 1}`
}
