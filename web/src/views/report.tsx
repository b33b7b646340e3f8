// report.tsx - a report of the simulator, from a file of this machine or kept at the server. SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, type ApiError } from '../lib/api';
import { bytes, plural } from '../lib/format';
import { never, useLive } from '../lib/live';
import { href, useQuery } from '../lib/router';
import { showReport } from '../lib/report';
import { theme } from '../theme';
import { Card, Command, Empty, ErrorBox, Head, Time } from '../ui/base';
import { colours } from './map_draw';

interface Kept { name: string; bytes: number; modified_at: string }
interface Opened { name: string; text: string }

function Report({ opened }: { opened: Opened }) {
  const ref = useRef<HTMLDivElement>(null);
  const [known, setKnown] = useState(true);
  useEffect(() => { if (ref.current) setKnown(showReport(opened.text, ref.current, colours().dark)); }, [opened, theme.value]);
  return (
    <>
      {!known && <p class="note bad" role="alert">{opened.name} is no report of the simulator. <code>weir sim … --report FILE</code> writes one.</p>}
      <div ref={ref} class="report" data-report={known ? opened.name : ''} />
    </>
  );
}

export function ReportView() {
  const [query] = useQuery();
  const name = query.get('name') ?? '';
  const kept = useLive<{ items: Kept[]; more: boolean }>('/reports', never);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    if (!name) return;
    setError(null);
    call('GET', `/reports/${encodeURIComponent(name)}`).then((a) => a.text()).then((text) => setOpened({ name, text }), setError);
  }, [name]);
  const pick = (e: { currentTarget: HTMLInputElement }) => {
    const file = e.currentTarget.files?.[0];
    if (file) void file.text().then((text) => setOpened({ name: file.name, text }));
  };
  const items = kept.data?.items ?? [];
  return (
    <>
      <Head title="Simulation" crumbs={[['Usage', '/usage']]} sub={opened ? opened.name : 'What the scheduler would do with other nodes, quotas or tasks'}>
        <label class="btn main report-file">Open a report<input type="file" accept=".html,text/html" onChange={pick} aria-label="Open a report from a file" /></label>
      </Head>
      <ErrorBox error={error ?? kept.error} />
      {(items.length > 0 || !opened) && (
        <Card title="Kept at the server" side={<span class="faint">{kept.data && plural(items.length, 'report')}</span>}>
          {items.length === 0 ? (
            <Empty title="No report is kept at the server"><p>The simulator runs the scheduler of this server in virtual time and writes a report. Open one from a file, or let the server keep it: it shows what lies in <code>reports</code> of its data directory.</p>
              <Command text="weir state export now.json && weir sim --state now.json --report DIR/reports/now.html" label="A report of what waits now" /></Empty>
          ) : <ul class="stack-small">{items.map((r) => <li key={r.name}><a href={href('/report', { name: r.name })} aria-current={r.name === name ? 'page' : undefined}>{r.name}</a> <span class="faint">{bytes(r.bytes)}, <Time at={r.modified_at} /></span></li>)}</ul>}
          {kept.data?.more && <p class="faint">There are more; the newest are shown.</p>}
        </Card>
      )}
      {opened && <Report opened={opened} />}
    </>
  );
}
