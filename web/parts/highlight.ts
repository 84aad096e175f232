import { useEffect, useState } from 'react'
import type { GrammarState, HighlighterCore } from 'shiki/core'

/** A piece of a line, with the class of its colour. */
export interface Piece {
  readonly text: string
  readonly className: string | undefined
}

/** Languages by the endings of file names. Each is loaded when a file of it is shown. */
const languages = {
  css: () => import('shiki/langs/css.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  shellscript: () => import('shiki/langs/shellscript.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
} as const

type Language = keyof typeof languages

const endings: Readonly<Record<string, Language>> = {
  css: 'css',
  go: 'go',
  html: 'html',
  cjs: 'javascript',
  js: 'javascript',
  json: 'json',
  jsx: 'tsx',
  md: 'markdown',
  mjs: 'javascript',
  mts: 'typescript',
  py: 'python',
  rs: 'rust',
  bash: 'shellscript',
  sh: 'shellscript',
  toml: 'toml',
  ts: 'typescript',
  tsx: 'tsx',
  yaml: 'yaml',
  yml: 'yaml',
}

/** Longer texts stay plain: colours are not worth a page that hangs. */
const maxChars = 100_000
const maxLines = 2_000
const maxLineChars = 1_000
/** The rest of a text that takes longer stays plain. */
const maxMs = 2_000
const linesAtOnce = 100

let opened: Promise<HighlighterCore> | null = null

/** Only grammars: colours are classes of the style sheet, so that they follow the theme and the policy of the page. */
async function open(): Promise<HighlighterCore> {
  const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] =
    await Promise.all([import('shiki/core'), import('shiki/engine/javascript')])
  return createHighlighterCore({
    themes: [createCssVariablesTheme({ name: 'css', variablePrefix: '--', fontStyle: false })],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
}

async function highlight(text: string, language: Language): Promise<readonly (readonly Piece[])[]> {
  opened ??= open()
  const highlighter = await opened.catch((error: unknown) => {
    opened = null
    throw error
  })
  if (!highlighter.getLoadedLanguages().includes(language))
    await highlighter.loadLanguage((await languages[language]()).default)
  const all = text.split('\n')
  const lines: Piece[][] = []
  const began = performance.now()
  let state: GrammarState | undefined
  for (let from = 0; from < all.length; from += linesAtOnce) {
    const tokens = highlighter.codeToTokensBase(all.slice(from, from + linesAtOnce).join('\n'), {
      lang: language,
      theme: 'css',
      tokenizeMaxLineLength: maxLineChars,
      // The first line waits for its grammar to be compiled.
      tokenizeTimeLimit: maxMs,
      ...(state !== undefined && { grammarState: state }),
    })
    state = highlighter.getLastGrammarState(tokens)
    for (const line of tokens)
      lines.push(line.map(({ content, color }) => ({ text: content, className: classOf(color) })))
    if (performance.now() - began > maxMs) break
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  return lines
}

/** `var(--token-string-expression)` is `t-string`. */
function classOf(color: string | undefined): string | undefined {
  const name = /--token-([a-z]+)/.exec(color ?? '')?.[1]
  return name === undefined ? undefined : `t-${name}`
}

/** The lines of a text in pieces; null while they are not known, and for texts that stay plain. */
export function useHighlight(text: string, path: string): readonly (readonly Piece[])[] | null {
  const [lines, setLines] = useState<readonly (readonly Piece[])[] | null>(null)
  const language = endings[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '']
  useEffect(() => {
    setLines(null)
    if (language === undefined || text.length > maxChars || text.split('\n').length > maxLines) return
    let isGone = false
    highlight(text, language).then(
      (found) => {
        if (!isGone) setLines(found)
      },
      // A grammar that does not load leaves plain text.
      () => {},
    )
    return () => {
      isGone = true
    }
  }, [text, language])
  return lines
}
