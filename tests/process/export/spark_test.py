# SPDX-License-Identifier: Apache-2.0
"""gpuprof export --type parquet, read by Spark: eight ranks of a job, and every query of docs/at-scale.md. Spark is 456 MB, so this test
does not install it: `tests/process/export/clients.sh spark` does, and Debian's openjdk-17-jre-headless."""
import os
import pathlib
import shutil

import clients
import parquet_tables
import processes

spark = None


def setUpModule():
    global spark
    if not pathlib.Path(processes.path("BUILT_GPUPROF")).with_name("export-parquet").exists():
        clients.missing("export-parquet", "this build has no Arrow")
    top = pathlib.Path(processes.path("EXPORT_TESTS")).parents[2]
    installed = sorted(pathlib.Path(os.environ.get("GPUPROF_CLIENTS", top / "build/clients")).glob("spark-*/pyspark"))
    if not installed:
        clients.missing("Spark", "run tests/process/export/clients.sh spark")
    if shutil.which("java") is None:
        clients.missing("Java for Spark", "install openjdk-17-jre-headless")
    clients.on_path(installed[-1].parent)
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
             .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")


def tearDownModule():
    if spark is not None:
        spark.stop()


class Spark(parquet_tables.Case):
    def ask(self, folder, sql):
        for table in parquet_tables.TABLES:
            spark.read.parquet(str(folder / table)).createOrReplaceTempView(table)
        return [row.asDict() for row in spark.sql(sql).collect()]

    def test_the_queries_of_the_documentation_page_give_the_right_answers(self):
        self.check_page(self.ask)

    def test_spark_reads_the_kernels_of_every_capture(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                rows = spark.read.parquet(str(self.export(capture, "parquet") / "kernel")).groupBy("name").count().collect()
                self.assertEqual({row["name"]: row["count"] for row in rows},
                                 {row["Name"]: row["Instances"] for row in self.stats(capture, "cuda_gpu_kern_sum")})

    def test_spark_reads_every_table(self):
        h200 = pathlib.Path(processes.path("H200_CAPTURES"))
        for capture in (self.of_session("copies_streams"), h200 / "mixed_sampled.gpuprof", self.made("hostile")):
            for table in self.export(capture, "parquet").iterdir():
                if table.is_dir():
                    with self.subTest(f"{table.name} of {capture.name}"):
                        rows = spark.read.parquet(str(table)).collect()
                        self.assertEqual({row["rank"] for row in rows} - {0}, set())


parquet_tables.export_cases.main()
