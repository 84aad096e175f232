import { posix } from 'node:path'

/** The options of programs that make another directory the one in which they run, and the only words that may be before one. */
const moves: Readonly<Record<string, { readonly options: RegExp; readonly behind?: RegExp }>> = {
  uv: { options: /^--directory$/, behind: /^(?:-|run$)/ },
  poetry: { options: /^(?:-C|--directory)$/, behind: /^-/ },
  npm: { options: /^(?:-C|--prefix)$/ },
  pnpm: { options: /^(?:-C|--dir)$/, behind: /^-/ },
  yarn: { options: /^--cwd$/, behind: /^-/ },
  bun: { options: /^--cwd$/ },
  make: { options: /^(?:-C|--directory)$/ },
  gmake: { options: /^(?:-C|--directory)$/ },
  task: { options: /^(?:-d|--dir)$/ },
  go: { options: /^-C$/, behind: /^-/ },
  cargo: { options: /^--manifest-path$/ },
  mvn: { options: /^(?:-f|--file)$/ },
  mvnw: { options: /^(?:-f|--file)$/ },
  gradle: { options: /^(?:-p|--project-dir)$/ },
  gradlew: { options: /^(?:-p|--project-dir)$/ },
  swift: { options: /^--package-path$/ },
  composer: { options: /^(?:-d|--working-dir)$/ },
  turbo: { options: /^--cwd$/ },
  mix: { options: /^--cd$/, behind: /^-/ },
}

/** `uv --directory api run pytest`, `make -C api test`, `cargo test --manifest-path api/Cargo.toml`: the directory, and the words without it. */
export function movedCommand(
  words: readonly string[],
): { readonly directory: string; readonly words: readonly string[] } | null {
  const program = posix.basename(words[0] ?? '')
  const { options, behind } = (Object.hasOwn(moves, program) ? moves[program] : undefined) ?? {}
  const end = words.indexOf('--')
  const own = words.slice(0, end === -1 ? undefined : end)
  const at = own.findIndex((word, index) => {
    const [, option = word] = /^(--?[\w-]+)=|^(-C)./.exec(word) ?? []
    return index > 0 && options?.test(/^-C./.test(word) ? '-C' : option) === true
  })
  const [word = '', next = ''] = own.slice(at, at + 2)
  if (at === -1 || !own.slice(1, at).every((each) => behind?.test(each) !== false)) return null
  const attached = /^(?:--?[\w-]+=|-C(?=.))(.*)$/s.exec(word)?.[1]
  const value = (attached ?? next).replace(/(?:^|\/)(?:Cargo\.toml|pom\.xml)$/, '') || '.'
  if (value.includes('\0') || value.startsWith('-')) return null
  const rest = words.toSpliced(at, attached === undefined ? 2 : 1)
  // Each of several directories is below the one before it.
  const more = movedCommand(rest)
  return more === null
    ? { directory: value, words: rest }
    : {
        directory:
          posix.resolve('/', value) === value
            ? posix.resolve(value, more.directory)
            : posix.join(value, more.directory),
        words: more.words,
      }
}
