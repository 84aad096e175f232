const contents: Readonly<Record<string, string>> = {
  'README.md': '# Sample project\n\nAn example of a small project: one module, and this page.\n',
  'package.json': '{\n  "name": "sample-project",\n  "version": "1.0.0",\n  "private": true\n}\n',
  'src/index.ts':
    "// TODO: greet in more than one language\nexport function greet(name: string): string {\n  return 'Hello, ' + name\n}\n",
  'test-file.ts': 'export const answer = 42\n',
  'notes.txt': 'first line\nan example in the middle\nlast line\n',
}

/** Files of a small project at the given paths, so that everything a request refers to exists. */
export function workspaceFiles(paths: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(paths.map((path) => [path, contents[path] ?? `Contents of ${path}.\n`]))
}
