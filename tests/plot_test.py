"""scripts/plot.py on a small rows.csv and on files it has to refuse."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401
except ImportError:
    print("skipped: needs matplotlib (apt-get install python3-matplotlib)")
    sys.exit(77)

PLOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "plot.py")
HEADER = ("schema_version,algo,impl,ngpus,dtype,bytes,mode,placement,launch,transport,backend,virtual,gpu,"
          "lat_us_median,lat_us_ci_lo,lat_us_ci_hi,busbw_GBps,status,reason\n")
END = "threads,p2p,cuda,0,NVIDIA H200,"
OK_ROW = "1,one_shot_pull,custom,2,bf16,1024,graph,out_of_place," + END + "5,4.9,5.2,0.2,ok,\n"
GOLDEN = (
    HEADER + OK_ROW +
    "1,one_shot_pull,custom,2,bf16,57344,graph,out_of_place," + END + "7,6.9,7.2,8.2,ok,\n"
    "1,one_shot_pull,custom,4,bf16,1024,eager,out_of_place," + END + "9,8.5,9.5,0.17,ok,\n"
    "1,nccl_ring,nccl,2,bf16,1024,graph,out_of_place," + END + "20,19,21,0.05,ok,\n"
    "1,nccl_ring,nccl,2,bf16,57344,graph,out_of_place," + END + "25,24,26,2.3,ok,\n"
    "1,nccl_tree,nccl,2,bf16,1024,graph,out_of_place," + END +
    ",,,,skipped,\"no, \"\"not\"\" here\"\n"
    "1,one_shot_pull,custom,2,f32,1024,graph,in_place,threads,p2p,cuda,1,NVIDIA H200,6,5,7,0.17,ok,\n"
    "1,one_shot_pull,custom,2,f32,1024,graph,in_place,threads,p2p,host,0,,600,500,700,0.0017,ok,\n")
NAMES = ["bf16_threads_cuda_out_of_place", "f32_threads_cuda_virtual_in_place",
         "f32_threads_host_in_place"]


class PlotTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.rows = os.path.join(self.folder, "rows.csv")

    def plot(self, text, *options):
        with open(self.rows, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return subprocess.run([sys.executable, "-B", PLOT, self.rows, *options],
                              capture_output=True, text=True, check=False)

    def drawn(self, folder):
        return sorted(name for name in os.listdir(folder) if name != "rows.csv")

    def svg(self, name):
        """The text in a picture: each string is a comment in matplotlib's SVG."""
        with open(os.path.join(self.folder, name + ".svg"), encoding="utf-8") as file:
            return [text.strip() for text in re.findall(r"<!--(.*?)-->", file.read(), re.S)]

    def refuses(self, text, why, *options):
        result = self.plot(text, *options)
        self.assertEqual(result.stderr, f"plot.py: {self.rows}: {why}\n")
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(self.drawn(self.folder), [])

    def test_draws_each_set_of_conditions(self):
        result = self.plot(GOLDEN)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.returncode, 0)
        expected = sorted(f"{measure}_{name}.{kind}" for measure in ("latency", "busbw")
                          for name in NAMES for kind in ("png", "svg"))
        self.assertEqual(self.drawn(self.folder), expected)
        written = result.stdout.splitlines()
        self.assertEqual(sorted(os.path.basename(path) for path in written), expected)
        for path in written:
            with open(path, "rb") as file:
                start = file.read(8)
            self.assertEqual(start[:4], b"\x89PNG" if path.endswith("png") else b"<?xm", path)

    def test_says_what_is_drawn(self):
        self.plot(GOLDEN)
        texts = self.svg("latency_bf16_threads_cuda_out_of_place")
        title = "allreduce latency: bf16, out of place, launch threads \u2013 NVIDIA H200"
        for text in (title, "2 GPUs, graph", "4 GPUs, eager", "latency, \u00b5s per op", "1 KiB",
                     "56 KiB"):
            self.assertIn(text, texts)
        self.assertEqual(texts.count("one_shot_pull"), 1)  # one legend for all panels
        self.assertEqual(texts.count("nccl_ring"), 1)
        self.assertNotIn("nccl_tree", texts)  # it never ran
        self.assertIn("bus bandwidth, GB/s", self.svg("busbw_bf16_threads_cuda_out_of_place"))

    def test_says_what_is_no_gpu_result(self):
        self.plot(GOLDEN)
        texts = self.svg("latency_f32_threads_cuda_virtual_in_place")
        self.assertIn("virtual ranks share a GPU: not a multi-GPU result", texts)
        self.assertIn("2 ranks, graph", texts)
        self.assertIn("host backend: not a GPU result", self.svg("busbw_f32_threads_host_in_place"))

    def test_out_and_dtype(self):
        out = os.path.join(self.folder, "a", "b")
        self.assertEqual(self.plot(GOLDEN, "--out", out, "--dtype", "bf16").returncode, 0)
        self.assertEqual(self.drawn(out), [f"{measure}_{NAMES[0]}.{kind}"
                                           for measure in ("busbw", "latency")
                                           for kind in ("png", "svg")])

    def test_same_rows_make_the_same_file(self):
        path = os.path.join(self.folder, f"latency_{NAMES[0]}.svg")
        pictures = []
        for _ in range(2):
            self.plot(GOLDEN, "--dtype", "bf16")
            with open(path, "rb") as file:
                pictures.append(file.read())
        self.assertEqual(pictures[0], pictures[1])

    def test_rows_that_differ_in_the_gpu_alone_make_two_files(self):
        self.assertEqual(self.plot(HEADER + OK_ROW + OK_ROW.replace("H200", "B200")).returncode, 0)
        self.assertEqual([name for name in self.drawn(self.folder) if name.startswith("busbw")],
                         [f"busbw_{NAMES[0]}_{i}.{kind}"
                          for i in (1, 2) for kind in ("png", "svg")])

    def test_rows_through_host_memory_are_drawn_apart(self):
        host = OK_ROW.replace("p2p", "host")
        self.assertEqual(self.plot(HEADER + OK_ROW + host).returncode, 0)
        name = "latency_bf16_threads_host_transport_cuda_out_of_place"
        self.assertIn(f"latency_{NAMES[0]}.svg", self.drawn(self.folder))
        self.assertIn("allreduce latency: bf16, out of place, launch threads, through host memory "
                      "\u2013 NVIDIA H200", self.svg(name))

    def test_toolkits_are_lines_of_their_own(self):
        header = HEADER[:-1] + ",toolkit\n"
        row = OK_ROW[:-1]
        self.assertEqual(self.plot(header + row + ",\n" + row + ",nvrtc 12.8.93\n").returncode, 0)
        texts = self.svg("latency_" + NAMES[0])
        self.assertEqual(texts.count("one_shot_pull"), 1)
        self.assertEqual(texts.count("one_shot_pull nvrtc 12.8.93"), 1)

    def test_refuses_what_is_no_rows_csv(self):
        self.refuses("", "is empty")
        self.refuses("a,b\n1,2\n", "is no rows.csv of arbench: it has no column schema_version, "
                     "algo, impl, ngpus, dtype, bytes, mode, placement, launch, transport, backend, virtual, "
                     "gpu, lat_us_median, lat_us_ci_lo, lat_us_ci_hi, busbw_GBps, status")
        self.refuses(HEADER, "has no rows")
        self.refuses(HEADER + "1,one_shot_pull\n",
                     "line 2 has not as many fields as the header")
        self.refuses(HEADER + OK_ROW[:-1] + ",more\n",
                     "line 2 has not as many fields as the header")
        self.refuses(HEADER + OK_ROW.replace("1,", "2,", 1),
                     "has schema_version 2, this script reads 1")
        self.refuses(HEADER + "1,\"one", "is no CSV (unexpected end of data)")
        self.assertIn("is no CSV (", self.plot(b"\xff\xfe" + HEADER.encode()).stderr)

    def test_refuses_numbers_that_are_none(self):
        for bad in ("fast", "nan", "inf", "0", "-5"):
            self.refuses(HEADER + OK_ROW.replace(",5,4.9", f",{bad},4.9"),
                         f"holds lat_us_median '{bad}': not a number above 0")

    def test_refuses_when_nothing_is_left_to_draw(self):
        self.refuses(HEADER + OK_ROW.replace(",ok,", ",wrong,"), "has no row with a time")
        self.refuses(HEADER + OK_ROW, "has no rows of dtype f16, only bf16", "--dtype", "f16")

    def test_refuses_files_it_cannot_reach(self):
        self.refuses(HEADER + OK_ROW, "the pictures cannot be written to /dev/null/x "
                     "(Not a directory)", "--out", "/dev/null/x")
        missing = os.path.join(self.folder, "none.csv")
        result = subprocess.run([sys.executable, "-B", PLOT, missing], capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.stderr,
                         f"plot.py: {missing}: cannot be read (No such file or directory)\n")
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
