import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { globSync } from 'tinyglobby'

export const root = join(import.meta.dirname, '../../..')

/** A Markdown file of the project. */
export interface Document {
  /** Relative to the project. */
  readonly path: string
  readonly text: string
}

export interface Fence {
  readonly document: string
  readonly line: number
  /** The first word after the fence, and what follows it: `yaml` and `scenario`. */
  readonly language: string
  readonly mark: string
  readonly text: string
}

export function readDocument(path: string): Document {
  return { path, text: readFileSync(join(root, path), 'utf8') }
}

/** Every page a reader of the repository finds. */
export function allDocuments(): Document[] {
  return globSync(['*.md', 'docs/*.md', 'examples/*.md'], { cwd: root }).sort().map(readDocument)
}

/** Fenced blocks, without the indentation of a list around them. */
export function fencesOf({ path, text }: Document): Fence[] {
  return [...text.matchAll(/^( *)```(\S*) ?(.*)\n([\s\S]*?)^\1```$/gm)].map((match) => {
    const [, indent = '', language = '', mark = '', body = ''] = match
    const line = text.slice(0, match.index).split('\n').length
    return {
      document: path,
      line,
      language,
      mark,
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }
  })
}

/** Targets of links that stay in the repository, with their anchors. */
export function linksOf({ text }: Document): string[] {
  return [...withoutFences(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
}

/** The anchors GitHub makes of a page's headings. */
export function anchorsOf({ text }: Document): string[] {
  return [...withoutFences(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}

/** Command lines of `gantry` in shell blocks: whole ones, as a reader would copy them. */
export function shellCommandsOf(document: Document): string[][] {
  return fencesOf(document)
    .filter(({ language }) => language === 'sh' || language === 'console' || language === 'yaml')
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => /^(?:\$ |\s*- run: )?(gantry .*)$/.exec(line)?.[1])
    .filter((line) => line !== undefined)
    .map(argvOf)
}

/** Mentions of commands in running text, which may leave arguments out. */
export function mentionedCommandsOf({ text }: Document): string[][] {
  return [...withoutFences(text).matchAll(/`(gantry [^`]+)`/g)].map(([, line = '']) => argvOf(line))
}

/** Words after `gantry`, up to a pipe, a redirection or a comment. */
function argvOf(line: string): string[] {
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain?.replace(/,$/, '') ?? '',
  )
  const end = words.findIndex((word) => ['|', '>', '#', '&&'].includes(word))
  return words.slice(1, end === -1 ? undefined : end)
}

function withoutFences(text: string): string {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '')
}
