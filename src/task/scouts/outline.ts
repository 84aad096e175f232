import { extname } from 'node:path/posix'

/** Something a file defines, with its line from 1. */
export interface Definition {
  readonly name: string
  readonly line: number
  /** The line itself, shortened. */
  readonly text: string
}

const maxPerFile = 40
const maxChars = 120

const javascript =
  /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface|type|enum|const|let|var)\s+([A-Za-z_$][\w$]*)/
const python = /^(?:async\s+)?(?:def|class)\s+([A-Za-z_]\w*)|^\s{4}(?:async\s+)?def\s+([A-Za-z_]\w*)/
const c =
  /^(?!\s|return\b|else\b|if\b|for\b|while\b|switch\b|#)[A-Za-z_][\w\s*]*?\b([A-Za-z_]\w*)\s*\([^;]*$|^(?:typedef\s+)?(?:struct|enum|union)\s+([A-Za-z_]\w*)|^#define\s+([A-Za-z_]\w*)/
const go = /^func\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)|^type\s+([A-Za-z_]\w*)/
const rust =
  /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:fn|struct|enum|trait|mod|type|const|static)\s+([A-Za-z_]\w*)/
const java =
  /^\s*(?:public|protected|private|static|final|abstract|\s)*(?:class|interface|enum|record)\s+([A-Za-z_]\w*)|^\s+(?:public|protected|private)[\w<>[\],\s]*?\s([A-Za-z_]\w*)\s*\(/
const ruby = /^\s*(?:def|class|module)\s+([A-Za-z_][\w.?!]*)/
const shell = /^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{/

/** By extension. A language that is not here has no outline, and is shown by its first lines. */
const languages: Readonly<Record<string, RegExp>> = {
  ...entries('js jsx mjs cjs ts tsx mts cts', javascript),
  ...entries('py pyi', python),
  ...entries('c h cc cpp cxx hpp hh', c),
  ...entries('go', go),
  ...entries('rs', rust),
  ...entries('java kt cs', java),
  ...entries('rb', ruby),
  ...entries('sh bash', shell),
}

function entries(extensions: string, pattern: RegExp): Record<string, RegExp> {
  return Object.fromEntries(extensions.split(' ').map((extension) => [extension, pattern]))
}

/** What a source file defines, found line by line: no parser, so that every language costs the same and nothing can fail. */
export function outline(path: string, text: string): readonly Definition[] {
  const pattern = languages[extname(path).slice(1).toLowerCase()]
  if (pattern === undefined) return []
  const found: Definition[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.length > 2_000) continue
    const match = pattern.exec(line)
    const name = match?.slice(1).find((group) => group !== undefined)
    if (name === undefined) continue
    found.push({ name, line: index + 1, text: line.trim().slice(0, maxChars) })
    if (found.length === maxPerFile) break
  }
  return found
}
